"""CUDA graphs, kernel records and the state of the device; all but running works without a GPU."""
