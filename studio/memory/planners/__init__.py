"""Planners: one arena, planned by everybody."""
