"""Precision: which range a value takes, what fewer bits lose, and which plan keeps a budget."""
