"""The comparison of a table with its rebuild."""
