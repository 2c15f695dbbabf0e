"""Transitions and entries of the quarantine ledger."""
