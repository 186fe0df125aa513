"""Precision: what fewer bits cost, where."""
