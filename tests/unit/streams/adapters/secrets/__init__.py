"""Tests of the rule families for secrets."""
