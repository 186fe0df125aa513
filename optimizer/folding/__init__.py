"""Computing constant expressions: in numpy, within limits known before anything is computed."""
