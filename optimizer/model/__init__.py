"""Models: loading, limits, findings, shapes, binding of dimensions, writing."""
