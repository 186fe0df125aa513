"""The worker's side of a measurement: a session, and runs of it."""
