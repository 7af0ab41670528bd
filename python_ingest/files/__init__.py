"""Feeds of files: listed, inspected, planned, appended to bronze, confirmed."""
