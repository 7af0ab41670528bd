"""Readers of the file formats; `rows.py` converts what they read to the columns of the bronze table."""
