"""What the Memory page shows: jobs that write it into the store, dataclasses that read it."""
