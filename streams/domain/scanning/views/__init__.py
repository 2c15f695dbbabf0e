"""Readings of a text: itself, and what it says once its disguises are taken off, each with its way back.

The contract: ``readings`` (in the module of that name) is the whole of it. A reading is a ``View`` (``model``): text,
and for every stretch of it where it stands in the original and how it was read. Nothing is imported here, so that who
needs the bounds alone (``limits``) loads no tables.
"""
