"""The declarations of feeds, and the connections that they name."""
