"""Ports to adapters; the only importer of ``streams.adapters``."""
