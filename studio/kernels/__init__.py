"""Kernels: which implementation is best for the operators that take the time."""
