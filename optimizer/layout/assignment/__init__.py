"""Which layout each node works in, so that kernels and conversions together cost least."""
