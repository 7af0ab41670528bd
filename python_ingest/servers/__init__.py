"""Local servers on loopback ports, for `make services`, tests and benchmarks; what starts them stops them."""
