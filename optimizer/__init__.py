"""Graphs and nothing but graphs: loading, passes, the trace, verification."""
