"""Readable SQL names for the fields of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from anyascii import anyascii

SIGNS = {"%": " percent ", "#": " number ", "№": " number ", "&": " and ", "'": "", "’": ""}
RESERVED = ("raw_record", "rejection_reason")  # columns that the staging model adds
MOST_LETTERS = 100


def readable(field: str) -> str:
    """Return a name in lower-case ASCII letters, digits and `_`: `Yaml.HTTPCode` becomes `yaml_http_code`.

    Returns:
        The name, which begins with a letter; empty if the field has no letter and no digit.
    """
    text = anyascii("".join(SIGNS.get(sign, sign) for sign in field.strip().lstrip("#")))
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", text)
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:MOST_LETTERS].rstrip("_")
    return f"c_{name}" if name[:1].isdigit() else name


@lru_cache(maxsize=100)
def column_names(fields: Sequence[str], entity: str) -> dict[str, tuple[str, bool]]:
    """Return the name of each field's column, and whether it was changed because it is an SQL keyword.

    Args:
        fields: the fields, as a tuple; a name that is taken gets a number.
        entity: what one record is; the prefix of names that are SQL keywords.
    """
    names: dict[str, tuple[str, bool]] = {}
    taken: set[str] = set()
    for number, field in enumerate(fields, 1):
        name = readable(field) or f"column_{number}"
        is_keyword = name.upper() in keywords()
        base = f"{entity}_{name}" if is_keyword or name in RESERVED else name
        name, repeat = base, 1
        while name in taken:
            repeat += 1
            name = f"{base}_{repeat}"
        taken.add(name)
        names[field] = (name, is_keyword)
    return names


@cache
def keywords() -> set[str]:
    """Return the words that sqlfluff does not accept as names, or a short list if it is not installed."""
    try:
        from sqlfluff.core.dialects import dialect_selector
    except ImportError:
        return {"DATE", "ORDER", "TIMESTAMP", "USER", "VALUES", "TYPE", "COMMENT"}
    dialect = dialect_selector("sparksql")
    return set(dialect.sets("unreserved_keywords")) | set(dialect.sets("reserved_keywords"))
