"""Parts of statements: lists of columns, equality of keys, literals."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.readings import quoted


def null_safe_equal(left: str, right: str, columns: Iterable[str]) -> str:
    """Return a condition that two rows, given by their aliases, agree in all columns; NULL equals NULL."""
    return " and ".join(f"{left}.{one_quoted(name)} <=> {right}.{one_quoted(name)}" for name in columns)


def escaped(text: str) -> str:
    """Return a text as it stands between the single quotes of a literal."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def typed_literal(value: str, kind: str) -> str:
    """Return the literal of a value.

    Args:
        value: the value as text; bytes as hexadecimal digits.
        kind: its type.
    """
    return f"unhex('{value}')" if kind == "binary" else f"cast('{escaped(value)}' as {kind})"


def shown_key(keys: Iterable[str], prefix: str = "") -> str:
    """Return SQL of a key as text, for a message: all columns, also those that are NULL."""
    return f"to_json(struct({quoted(keys, prefix)}), map('ignoreNullFields', 'false'))"


def condition_of(*parts: str) -> str:
    """Return the conditions that are not empty, joined by `and`; `true` for none."""
    return " and ".join(part for part in parts if part) or "true"
