"""Whether a text claims a person's word that nobody gave: claims of authority, and the quotations that trace them."""
