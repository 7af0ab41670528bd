"""What a run costs, measured: see `benchmarks/increment.py`."""
