"""Names, places and dates, by language models that policy names and pins."""
