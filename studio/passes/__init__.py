"""Passes: the catalogue of all there are, and what each would do in the open model."""
