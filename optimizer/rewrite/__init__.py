"""Rewriting: the one place that changes graphs, the driver and the trace."""
