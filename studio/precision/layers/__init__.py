"""Layers: what every value loses in fewer bits, against the float source."""
