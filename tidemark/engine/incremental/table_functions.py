"""Table functions of constants, as `range(1, 13)` or `explode(…)` in FROM, as selects of a generator.

Spark gives the same rows for `from explode(x) as t(a)` and `from (select explode(x) as col) as t(a)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from tidemark.engine.incremental.literals import Change
from tidemark.engine.incremental.splicing import closing

SOURCES = (TokenType.FROM, TokenType.JOIN)
AFTER_SOURCES = (
    TokenType.ON,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.SELECT,
)
FUNCTIONS = ("explode", "range")


def selects(tokens: Sequence[Token], sql: str) -> Iterator[Change]:
    """Yield where such calls stand, and the selects to write in their place.

    Args:
        tokens: the tokens of a query.
        sql: its text.
    """
    for index in _of_sources(tokens):
        name, opening = tokens[index : index + 2]
        if opening.token_type != TokenType.L_PAREN or name.text.lower() not in FUNCTIONS:
            continue
        last = closing(tokens, index + 1)
        if last and (select := _select(sql[name.start : tokens[last].end + 1])):
            yield name.start, tokens[last].end, select


def _of_sources(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the places of the tokens that begin a source in FROM, but for the last token."""
    lists_sources = [False]  # at each depth of parentheses
    for index, one in enumerate(tokens[:-2]):
        kind = one.token_type
        if kind == TokenType.L_PAREN:
            lists_sources.append(False)
        elif kind == TokenType.R_PAREN:
            lists_sources = lists_sources[:-1] or [False]
        elif kind in SOURCES or kind in AFTER_SOURCES:
            lists_sources[-1] = kind in SOURCES
        if kind in SOURCES or (kind == TokenType.COMMA and lists_sources[-1]):
            yield index + 1


def _select(text: str) -> str:
    """Return the select of a call; an empty text if it is not one of constants."""
    try:
        call = sqlglot.parse_one(text, dialect="spark")
    except SqlglotError:
        return ""
    if call.find(exp.Column, exp.Subquery, exp.Select):
        return ""
    if isinstance(call, exp.Explode):
        return f"(select {text} as col)"
    return _range([*call.iter_expressions()], "\n" * text.count("\n"))


def _range(given: Sequence[exp.Expr], lines: str) -> str:
    """Return the select of `range(end)`, `range(start, end)` or `range(start, end, step)` with some rows."""
    try:
        numbers = [int(one.sql("spark")) for one in given]
    except ValueError:
        return ""
    if len(numbers) not in (1, 2, 3):
        return ""
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if step < 1 or end <= start:
        return ""
    return f"(select explode(sequence(cast({start} as bigint), {end - 1}, {step})) as id{lines})"
