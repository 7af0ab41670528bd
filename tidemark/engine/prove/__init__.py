"""Prove models without a lake: random histories of their sources, and the table of a rebuild after each."""
