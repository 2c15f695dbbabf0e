"""How well a scanner does on a corpus: rows, rates with intervals, and what got worse since a baseline."""
