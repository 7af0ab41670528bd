"""The tables of state: what landed, what was rejected, what changed."""
