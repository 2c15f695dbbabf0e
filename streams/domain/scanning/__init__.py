"""Populations and findings of a scan."""
