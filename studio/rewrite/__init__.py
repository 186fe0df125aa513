"""Rewrite: switch passes, step through every rewrite."""
