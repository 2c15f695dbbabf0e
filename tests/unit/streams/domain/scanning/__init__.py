"""Mirrors ``streams.domain.scanning``."""
