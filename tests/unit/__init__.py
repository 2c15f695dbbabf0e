"""Unit tests; the folders mirror the code."""
