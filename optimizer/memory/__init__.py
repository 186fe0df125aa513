"""Where every byte of a run lives: lifetimes, planners, node order."""
