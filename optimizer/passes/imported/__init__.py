"""Other projects' optimizers, run in worker processes."""
