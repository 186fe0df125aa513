"""Film: the lazy allocator event by event."""
