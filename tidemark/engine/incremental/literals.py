"""Literals that sqlglot and Spark read in different ways, as casts and texts that both read alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import Token, TokenType

Change = tuple[int, int, str]

UNITS = frozenset(
    [
        "year",
        "years",
        "quarter",
        "month",
        "months",
        "week",
        "weeks",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "second",
        "seconds",
    ]
)
MOMENTS = {
    TokenType.DATE: "date",
    TokenType.TIMESTAMP: "timestamp",
    TokenType.TIMESTAMPTZ: "timestamp",
    TokenType.TIMESTAMPNTZ: "timestamp_ntz",
    TokenType.TIMESTAMPLTZ: "timestamp_ltz",
}
# not 'today', which is valid only in a literal
MOMENT = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d?:\d\d?(:\d\d?(\.\d+)?)?)?")
PERIOD = re.compile(r"(-?\d+) ([a-z]+)", re.IGNORECASE)
SUFFIXED = re.compile(r"(?P<number>[\d.]+(?:e[+-]?\d+)?)(?P<kind>bd|[lsydf])", re.IGNORECASE)
WHOLE = {"L": ("bigint", 63), "S": ("smallint", 15), "Y": ("tinyint", 7)}


def literal(tokens: Sequence[Token], index: int, sql: str) -> tuple[Change | None, int]:
    """Return what to write in place of a literal, and how many tokens it spans.

    Args:
        tokens: the tokens of a query.
        index: the place of the literal's first token.
        sql: the query.
    """
    one = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if one.token_type == TokenType.NUMBER and following and following.start == one.start:
        is_rest = sql[one.start - 1 : one.start] == "."  # as in .5D, which is more than one token
        text = None if is_rest else _cast(sql[one.start : one.end + 1])
        return (None if text is None else (one.start, one.end, text)), 3
    if one.token_type == TokenType.STRING:
        return _joined(tokens, index)
    if following is None or following.token_type != TokenType.STRING or _is_text(tokens, index + 2):
        return None, 1
    text = _typed(one, following.text)
    return (None, 1) if text is None else ((one.start, following.end, text), 2)


def _typed(kind: Token, text: str) -> str | None:
    """Return a literal such as `date '2025-01-01'` as a cast, `interval '3 days'` with its unit."""
    if kind.token_type in MOMENTS and MOMENT.fullmatch(text):
        return f"cast('{text}' as {MOMENTS[kind.token_type]})"
    period = PERIOD.fullmatch(text.strip())
    if kind.token_type == TokenType.INTERVAL and period and period[2].lower() in UNITS:
        return f"interval '{period[1]}' {period[2]}"
    return None


def _is_text(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type == TokenType.STRING


def _joined(tokens: Sequence[Token], index: int) -> tuple[Change | None, int]:
    """Join texts that stand side by side, as in `'a' 'b'`, which Spark reads as one text."""
    end = index
    while _is_text(tokens, end + 1):
        end += 1
    if end == index:
        return None, 1
    text = "".join(one.text for one in tokens[index : end + 1])
    written = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return (tokens[index].start, tokens[end].end, f"'{written}'"), end - index + 1


def _cast(literal: str) -> str | None:
    """Return a number with a suffix as a cast; None for one that no cast of a smaller number gives."""
    found = SUFFIXED.fullmatch(literal)
    if found is None:
        return None
    number, kind = found["number"], found["kind"].upper()
    if kind in WHOLE:
        name, bits = WHOLE[kind]
        return f"cast({number} as {name})" if number.isdigit() and int(number) < 2**bits else None
    if kind in ("D", "F"):
        return f"cast({number} as {'double' if kind == 'D' else 'float'})"
    _, digits, exponent = Decimal(number).as_tuple()
    if not isinstance(exponent, int) or exponent > 0 or "e" in number.lower():
        return None
    scale = -exponent
    precision = max(len(digits), scale)
    return f"cast({number} as decimal({precision}, {scale}))" if precision <= 38 else None
