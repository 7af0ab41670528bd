"""Servers of the installed pyspark."""
