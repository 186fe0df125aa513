"""Sweep: the same race at several sizes of one dimension."""
