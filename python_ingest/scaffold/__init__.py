"""`tidemark add`: a feed declared from its files, with a silver model that lints and builds as it is."""
