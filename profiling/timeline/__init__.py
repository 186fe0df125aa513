"""What happened during a run, operator by operator."""
