"""Recompute: less memory for more arithmetic."""
