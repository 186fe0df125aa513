"""The planners, one a file; the registry imports them all."""
