"""`make demo` and `make tour`."""
