"""Feeds as they are declared, and the connections that they name."""
