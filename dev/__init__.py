"""Tools for this repository, not in the wheel: demo, tour, simulators, local servers."""
