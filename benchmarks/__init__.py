"""Benchmarks: the measured cost of runs and landings; see `benchmarks/peers.py`."""
