"""Operators written so that a runtime takes another kernel for them; in no preset but `generated`.

Whether that is faster, a race says: `profiling.kernels` offers each as a candidate.
"""
