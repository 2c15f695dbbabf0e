"""Pratique's client: ask for a verdict, check it, build the context from it."""
