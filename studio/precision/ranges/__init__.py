"""Ranges: the numbers of an activation and of the weights that read it, and what int8 keeps."""
