"""Checks of an installation and its lake, without Spark: `tidemark doctor`."""
