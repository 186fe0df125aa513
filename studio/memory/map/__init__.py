"""Map: every buffer at its addresses and its time."""
