"""Memory: where every byte of a run lives, and why."""
