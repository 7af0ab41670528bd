"""The engine: how models are read, updated, recorded and verified."""
