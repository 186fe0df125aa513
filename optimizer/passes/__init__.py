"""Passes, one a file; found by importing this package."""
