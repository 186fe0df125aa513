"""Methods that choose ranges; the registry, `optimizer.precision.threshold`, imports all files."""
