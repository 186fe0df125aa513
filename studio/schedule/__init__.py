"""The page Schedule: the loops of a kernel, seen and changed one primitive at a time."""
