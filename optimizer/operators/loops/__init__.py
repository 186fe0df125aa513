"""How each operator's outputs are computed, element by element: what kernels are generated from."""
