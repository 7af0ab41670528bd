"""The reason why a query, or a change of one of its sources, cannot be handled incrementally."""

from __future__ import annotations

from sqlglot import exp


class Unsupported(Exception):
    """A construct whose result cannot be kept up to date from changes alone.

    Attributes:
        construct: the construct, in the words of SQL, such as `limit` or `not in (select …)`.
        line: the line of the query in which it stands; None if it is not known.
    """

    def __init__(self, construct: str, part: exp.Expr | None = None, line: int | None = None) -> None:
        super().__init__(construct)
        self.construct = construct
        self.line = line if line is not None else _line_of(part)

    @property
    def where(self) -> str:
        """The construct and its line."""
        return self.construct if self.line is None else f"{self.construct} (line {self.line})"


def note_lines(query: exp.Expr) -> None:
    """Keep the line of each part of a query, before its names are replaced."""
    for name in query.find_all(exp.Identifier):
        line = name.meta.get("line")
        part = name.parent
        while line is not None and part is not None and line < part.meta.get("query_line", line + 1):
            part.meta["query_line"] = line
            part = part.parent


def as_written(part: exp.Expr) -> str:
    """Return a part of a query for a message: short, and without the names of its source."""

    is_of_one = len({column.table for column in part.find_all(exp.Column)}) < 2

    def bare(one: exp.Expr) -> exp.Expr:
        if not isinstance(one, exp.Column):
            return one
        return exp.column(one.name, None if is_of_one else one.table or None)

    text = part.copy().transform(bare).sql("spark", normalize_functions="lower")
    return f"`{text if len(text) <= 80 else text[:79] + '…'}`"


def name_of(source: exp.Expr) -> str:
    """Return what a source is that is no table and no subquery."""
    if isinstance(source, exp.Lateral):
        return "a lateral subquery: write a join with the subquery"
    if isinstance(source, exp.Values):
        return "a list of values of several kinds, or of more than 100 rows: make it a seed"
    return type(source).__name__.lower()


def _line_of(part: exp.Expr | None) -> int | None:
    if part is None:
        return None
    lines = [one.meta["query_line"] for one in part.walk() if "query_line" in one.meta]
    return lines[0] if lines else None
