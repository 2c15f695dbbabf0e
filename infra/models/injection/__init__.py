"""The injection model: texts, learning, measuring, and the card (``train``)."""
