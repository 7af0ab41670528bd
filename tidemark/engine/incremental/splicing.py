"""Replace parts of an SQL text, and leave the rest as it is written."""

from __future__ import annotations

from collections.abc import Iterable


def spliced(sql: str, parts: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with other parts.

    Args:
        sql: the text.
        parts: the first and the last position of each part, in order, and what to put there.
    """
    texts, done = [], 0
    for first, last, text in parts:
        texts += [sql[done:first], text]
        done = last + 1
    return "".join([*texts, sql[done:]])
