"""The History page: what was measured, here and elsewhere."""
