"""Fingerprints, findings and population reconciliation of a recall."""
