"""Lists of constant rows, `values (1, 'a'), (2, 'b')`, as a union of selects, which a tree can hold.

Spark gives a column of such a list the type that holds all its values, and a union does the same, as long as
the values are of one kind: texts, whole numbers, decimals, moments. A list that mixes texts with other values
stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from tidemark.engine.incremental.splicing import closing

MAX_ROWS = 100  # rows; each one is a level of the tree
ENDS = (TokenType.R_PAREN, TokenType.SEMICOLON)


def unions(tokens: Sequence[Token], sql: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last position of each list of rows that is a union as well, and the union.

    Args:
        tokens: the tokens of a query.
        sql: its text.
    """
    for index, one in enumerate(tokens):
        if one.token_type != TokenType.VALUES or index + 1 >= len(tokens):
            continue
        if index and tokens[index - 1].token_type == TokenType.DOT:
            continue
        last = _end(tokens, index + 1)
        if last is None:
            continue
        text = sql[one.start : tokens[last].end + 1]
        union = _union(text)
        if union is None:
            continue
        alone = index > 0 and tokens[index - 1].token_type == TokenType.L_PAREN
        alone = alone and last + 1 < len(tokens) and tokens[last + 1].token_type in ENDS
        union += "\n" * text.count("\n")
        yield one.start, tokens[last].end, union if alone else f"({union})"


def _end(tokens: Sequence[Token], index: int) -> int | None:
    """Return the place of the last token of `(…), (…)` at a place; None if it is not a list of rows alone."""
    place = index
    while place < len(tokens) and tokens[place].token_type == TokenType.L_PAREN:
        last = closing(tokens, place)
        if last is None:
            return len(tokens) - 1
        if last + 1 >= len(tokens) or tokens[last + 1].token_type != TokenType.COMMA:
            return last
        place = last + 2
    return None


def _union(text: str) -> str | None:
    """Return `select … union all select …` for a list of rows of one kind; else None."""
    try:
        parsed = sqlglot.parse_one(f"select * from {text} as constants", dialect="spark")
    except SqlglotError:
        return None
    values = parsed.find(exp.Values)
    if values is None or len(values.expressions) > MAX_ROWS:
        return None
    rows = [list(row.expressions) if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    if len({len(row) for row in rows}) != 1:
        return None
    for column in zip(*rows, strict=True):
        kinds = {_kind(value) for value in column} - {"null"}
        if None in kinds or len(kinds) > 1:
            return None
    first = ", ".join(f"{one.sql('spark')} as col{number}" for number, one in enumerate(rows[0], 1))
    others = (", ".join(one.sql("spark") for one in row) for row in rows[1:])
    return " union all ".join(f"select {row}" for row in (first, *others))


def _kind(value: exp.Expr) -> str | None:
    """Return the kind of a constant; None for an expression."""
    if isinstance(value, exp.Neg):
        inner = _kind(value.this)
        return inner if inner in ("number", "double") else None
    if isinstance(value, exp.Cast) and isinstance(value.this, exp.Literal):
        kind = value.to.this
        if kind in (*exp.DataType.INTEGER_TYPES, exp.DataType.Type.DECIMAL):
            return "number"
        return "double" if kind in exp.DataType.FLOAT_TYPES else str(value.to.sql("spark")).lower()
    if isinstance(value, exp.Literal) and not value.is_string:
        return "double" if "e" in str(value.this).lower() else "number"
    kinds = ((exp.Literal, "text"), (exp.Boolean, "boolean"), (exp.Null, "null"))
    return next((kind for one, kind in kinds if isinstance(value, one)), None)
