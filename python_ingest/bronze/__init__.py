"""The bronze tables of feeds: their columns, what may change, what happened to them."""
