"""The state tables: what landed, what was rejected, and what changed."""
