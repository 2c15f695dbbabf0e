"""Checks of the repository itself that no off-the-shelf tool makes; ``make check`` runs them."""
