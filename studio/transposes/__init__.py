"""Transposes of a model: the loops that each takes, and how fast they are beside a plain copy."""
