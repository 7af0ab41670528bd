"""Landing of file feeds: list, inspect, plan, append to bronze, confirm."""
