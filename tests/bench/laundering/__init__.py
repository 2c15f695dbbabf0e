"""The laundering experiment: does planted text come back as somebody's word (``make bench-laundering``)."""
