"""The documentation, and what writes the part of it that comes from the code."""
