"""One file a page, drawing top to bottom; nothing is computed here."""
