"""Everything that is made once and kept on disk: where it lies, how it is made, when it goes."""
