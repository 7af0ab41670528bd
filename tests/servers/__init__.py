"""Servers that tests and benchmarks start on loopback ports of their own, and stop again."""
