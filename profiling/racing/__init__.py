"""Variants timed against each other, and what may be claimed from it."""
