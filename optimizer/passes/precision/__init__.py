"""Fewer bits for weights and values; in no preset, since each step gives some accuracy away."""
