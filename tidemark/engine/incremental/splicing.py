"""Replace parts of an SQL text, and leave the rest as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import Token, TokenType

DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """Return the place of the token that closes the parenthesis at a place; None if none does."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += DEPTH.get(tokens[place].token_type, 0)
        if depth == 0:
            return place
    return None


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
