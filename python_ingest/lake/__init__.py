"""The tables of the lake, by format, and the lock of the lake."""
