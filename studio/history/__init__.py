"""History: what was measured, here and elsewhere."""
