"""What runs did: their records, undoing them, and differences between tables at two runs."""
