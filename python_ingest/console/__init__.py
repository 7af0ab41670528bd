"""Printing for people and for machines."""
