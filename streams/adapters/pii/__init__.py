"""Personal data beyond Presidio's catalogue: recognisers of our own, how a match is judged, and the index."""
