"""Simulators of live systems: the same seed gives the same data on every machine and Python."""
