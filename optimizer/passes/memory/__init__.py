"""Passes that give arithmetic for memory; no preset has them. They run once, after all others."""
