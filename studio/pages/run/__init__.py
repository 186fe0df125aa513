"""The Run page, a file a section."""
