"""How each file format is examined and read; `bronze` puts the rows into the shape of the bronze table."""
