"""Secrets by form and by the words around them: rule families, and the catalogue without its thresholds."""
