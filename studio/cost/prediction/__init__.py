"""Predicted times of models that are open: computed by workers, kept beside their runs."""
