"""Candidate schema, constraints, clause grammar, consistency, provenance."""
