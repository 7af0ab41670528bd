"""The kind of a text value, as far as it shows whether a line has names or values."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"[-+(]?[$€£¥]? ?[0-9][0-9., '\u00a0\u202f]*([eE][-+]?[0-9]+)?[)%]?( ?[$€£¥%])?")
TIME = re.compile(
    r"[0-9]{1,4}[-/. ][0-9A-Za-z]{1,9}[-/., ]+[0-9]{1,4}([T ].*)?|[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?.*"
    r"|[0-9]{8}T.*|[A-Z][a-z]{2,8}\.? [0-9]{1,2},? [0-9]{4}.*"
)
WORDS = ("true", "false", "yes", "no", "y", "n", "t", "f")
NULLS = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "?", ".", "\\n")
SHAPES = {
    "address": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "link": re.compile(r"(https?|ftp|s3)://.+|www\..+"),
    "identifier": re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "hash": re.compile(r"(?i)(?=.*[0-9])[0-9a-f]{16,}"),
    "code": re.compile(r"(?=.*[0-9])[A-Za-z]{0,5}[-_ ]?[0-9][-0-9A-Za-z_./]*"),
}
TYPED = ("number", "time", "boolean", *SHAPES)


def kind_of(value: str) -> str:
    """Return the kind of a value: empty, number, time, boolean, one of SHAPES, or text."""
    text = value.strip()
    if text.lower() in NULLS:
        return "empty"
    if NUMBER.fullmatch(text):
        return "number"
    if TIME.fullmatch(text):
        return "time"
    if text.lower() in WORDS:
        return "boolean"
    return next((name for name, shape in SHAPES.items() if shape.fullmatch(text)), "text")


def common_kind(values: Sequence[str]) -> str:
    """Return the kind that at least nine of ten values have, apart from empty ones; else text."""
    kinds = [kind for kind in map(kind_of, values) if kind != "empty"]
    if not kinds:
        return "empty"
    first = max(dict.fromkeys(kinds), key=kinds.count)
    return first if kinds.count(first) >= 0.9 * len(kinds) else "text"
