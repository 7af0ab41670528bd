"""Find parts of a JSON record that no Spark value can hold and that Spark would change silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import Column

HALF = "it contains half of a surrogate pair (such as \\ud800), which is not a character"
HUGE = "it contains a number that is too large for a double"
# All repetitions are possessive: otherwise Java's matcher overflows its stack on long records.
PAIRED = r"(?s)^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])*+\z"
TEXT = r'(?s)"(?:[^"\\]++|\\.)*+"'
NUMBER = "(-?[0-9][0-9.]*+(?:[eE][-+]?[0-9]++)?)"
# An exponent of three digits, or 200 digits. The anchor cuts the time of the search to about 60 %.
MIGHT_BE_HUGE = "^(?:[^0-9]++|[0-9]{1,199}+(?![0-9]|[eE][+]?[0-9]{3}))*+[0-9]"


def holds_half(text: Column) -> Column:
    """Return whether a record has half of a surrogate pair like `\\ud800`, which Spark reads as `?`."""
    has_some = f.contains(text, f.lit(r"\ud")) | f.contains(text, f.lit(r"\uD"))
    return has_some & ~f.rlike(text, f.lit(PAIRED))


def holds_huge(text: Column) -> Column:
    """Return whether a record has a number that is too large for a double; Spark reads it as `Infinity`."""
    numbers = f.regexp_extract_all(f.regexp_replace(text, TEXT, '""'), f.lit(NUMBER), f.lit(1))
    is_huge = f.exists(numbers, lambda number: f.abs(number.try_cast("double")) == f.lit(float("inf")))
    return f.rlike(text, f.lit(MIGHT_BE_HUGE)) & is_huge
