"""Random networks by NNSmith, optimized with every preset and verified: `make fuzz`."""
