"""Evidence, join and verdict."""
