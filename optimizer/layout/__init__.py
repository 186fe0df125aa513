"""The order in which a tensor's elements lie in memory, and what it takes to change it."""
