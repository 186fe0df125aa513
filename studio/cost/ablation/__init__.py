"""Ablation: the pipeline without each pass."""
