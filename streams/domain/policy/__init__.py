"""The policy set, roles, scopes and validity."""
