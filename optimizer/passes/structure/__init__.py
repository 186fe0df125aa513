"""Structure: bodies and repeats, written out or brought together."""
