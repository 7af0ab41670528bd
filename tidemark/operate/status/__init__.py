"""The state of feeds, tables and runs, as `tidemark status` shows it."""
