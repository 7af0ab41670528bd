"""Find the part of a query that sqlglot reads in another way than Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import Token, TokenType

from tidemark.engine.incremental.splicing import spliced
from tidemark.engine.incremental.unsupported import Unsupported

DEPTH = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE), 1),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END), -1),
}
CONDITIONS = (TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY)
ENDS = (
    *(TokenType.FROM, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.SORT_BY, TokenType.CLUSTER_BY),
    *(TokenType.DISTRIBUTE_BY, TokenType.LIMIT, TokenType.WINDOW, TokenType.LATERAL, TokenType.SEMICOLON),
    *(TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, *CONDITIONS),
)
NAMES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.STAR)


@dataclass(frozen=True)
class Part:
    """An expression of a SELECT list, or a condition, and what can stand in its place."""

    start: int
    end: int
    line: int
    stand_in: str


def unlike(sql: str, is_read_alike: Callable[[str], bool]) -> Unsupported:
    """Return the reason for a query that sqlglot reads in another way than Spark.

    It names the first part that is read so: all other parts are taken out, and the rest is read again.

    Args:
        sql: the query.
        is_read_alike: tells whether both read a query alike; may raise any error.
    """
    parts = list(_parts(sqlglot.tokenize(sql, dialect="spark"), sql))

    def only(kept: Sequence[Part]) -> bool:
        others = [(one.start, one.end, one.stand_in) for one in parts if one not in kept]
        try:
            return is_read_alike(spliced(sql, others))
        except Exception:  # without the parts it is not a query
            return True

    suspects = parts if parts and only(()) else []
    while len(suspects) > 1:
        half = len(suspects) // 2
        suspects = next((some for some in (suspects[:half], suspects[half:]) if not only(some)), [])
    if not suspects:
        return Unsupported("SQL that Tidemark and Spark parse differently")
    found = suspects[0]
    text = " ".join(sql[found.start : found.end + 1].split())
    text = text if len(text) <= 80 else f"{text[:79]}…"
    return Unsupported(f"`{text}`, which Tidemark and Spark parse differently", line=found.line)


def _parts(tokens: Sequence[Token], sql: str) -> Iterator[Part]:
    done = -1
    for index, token in enumerate(tokens):
        if token.start <= done:
            continue
        if token.token_type == TokenType.SELECT:
            for first, last in _items(tokens, index + 1):
                part = _item(tokens[first : last + 1], sql)
                if part is not None:
                    yield part
                    done = part.end
        elif token.token_type in CONDITIONS:
            first, last = next(_items(tokens, index + 1, split=False))
            if last >= first:
                yield Part(tokens[first].start, tokens[last].end, tokens[first].line, "true")
                done = tokens[last].end


def _items(tokens: Sequence[Token], first: int, *, split: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the places of the first and the last token of each expression of a list."""
    if first < len(tokens) and tokens[first].token_type in (TokenType.DISTINCT, TokenType.ALL):
        first += 1
    depth, place = 0, first
    while place < len(tokens):
        kind = tokens[place].token_type
        depth += DEPTH.get(kind, 0)
        if depth < 0 or (depth == 0 and kind in ENDS):
            break
        if depth == 0 and split and kind == TokenType.COMMA:
            yield first, place - 1
            first = place + 1
        place += 1
    yield first, place - 1


def _item(item: Sequence[Token], sql: str) -> Part | None:
    """Return an expression of a SELECT list; None for a column."""
    if not item or all(one.token_type in NAMES for one in item):
        return None
    last = item[-1]
    is_named = len(item) > 2 and item[-2].token_type == TokenType.ALIAS
    alias = f" as {sql[last.start : last.end + 1]}" if is_named else ""
    inside = item[:-2] if is_named else item
    if all(one.token_type in NAMES for one in inside):
        return None
    return Part(item[0].start, last.end, item[0].line, f"null{alias}")
