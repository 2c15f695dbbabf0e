"""One case, run against the fake and the real adapter of a port."""
