"""Precision: which range a value takes, and what fewer bits cost, where."""
