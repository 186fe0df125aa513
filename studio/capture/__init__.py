"""CUDA Graph: whether variants can be captured, and what that saves."""
