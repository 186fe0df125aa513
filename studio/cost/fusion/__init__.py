"""Fusion: a chain of operators before and after it became one."""
