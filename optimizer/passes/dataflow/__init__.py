"""Dataflow level: the graph as a whole."""
