"""Waterfall: from the source to the optimized graph, bar by bar."""
