"""Erase the rows of a person, everywhere."""
