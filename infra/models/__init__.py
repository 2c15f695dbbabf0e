"""Models: how they are made. Nothing here runs in the service."""
