"""When a table has so many small files that `tidemark maintain` pays: one rule for all that say so."""

MANY = 50  # files
SMALL = 16 * 2**20  # bytes of a file, on average


def has_small_files(number: int, size: int) -> bool:
    """Return whether files are many and small.

    Args:
        number: of the files.
        size: their bytes.
    """
    return number > MANY and size < SMALL * number
