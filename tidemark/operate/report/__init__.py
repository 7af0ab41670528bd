"""A page about the operation of the lake, from its state tables."""
