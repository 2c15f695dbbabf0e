"""Golden vectors and their generators."""
