"""Local servers on loopback ports, for `make services`, tests and benchmarks; the caller stops them."""
