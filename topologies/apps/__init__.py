"""One frozen Topology a deployable."""
