"""How much memory every step of a trace needs."""
