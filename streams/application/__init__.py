"""One use case a module: (input, state, now) -> decision; its ports beside it."""
