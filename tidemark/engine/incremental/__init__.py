"""Derive from a model's query how its table can be kept up to date from the changes of its sources."""
