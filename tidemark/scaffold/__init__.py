"""`tidemark add`: declare a feed from its files, with a silver model that lints and builds unchanged."""
