"""The bronze tables of feeds: their columns, their allowed changes, and their history."""
