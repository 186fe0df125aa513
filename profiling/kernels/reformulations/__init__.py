"""Other ways to write a block, for which the runtime has other kernels."""
