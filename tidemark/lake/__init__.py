"""Access to the lake's tables, by table format, and the lock of the lake."""
