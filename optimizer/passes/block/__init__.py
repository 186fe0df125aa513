"""Block level: small patterns of neighbouring nodes."""
