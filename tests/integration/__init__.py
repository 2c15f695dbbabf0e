"""Tests on real Kafka and real processes."""
