"""Order: what is alive depends on which node runs when."""
