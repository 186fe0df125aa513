"""Passes that change the order in which elements lie; no preset has them."""
