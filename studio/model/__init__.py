"""Model: choose a network, see its graph, read what is in it."""
