"""One outside thing a module."""
