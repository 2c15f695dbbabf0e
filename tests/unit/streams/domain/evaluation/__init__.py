"""Mirrors ``streams.domain.evaluation``."""
