"""The variants of the Run page: which graphs, under which options."""
