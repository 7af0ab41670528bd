"""The reason why a query, or a change of one of its sources, cannot be handled incrementally."""

from __future__ import annotations

from sqlglot import exp


class Unsupported(Exception):
    """A construct whose result cannot be kept up to date from changes alone.

    Attributes:
        construct: the construct, in the words of SQL, such as `limit` or `not in (select …)`.
        line: the line of the query in which it stands; None if it is not known.
    """

    def __init__(self, construct: str, part: exp.Expr | None = None) -> None:
        super().__init__(construct)
        self.construct = construct
        self.line = _line_of(part)

    @property
    def where(self) -> str:
        """The construct and its line."""
        return self.construct if self.line is None else f"{self.construct} (line {self.line})"


def note_lines(query: exp.Expr) -> None:
    """Keep the line of each part of a query, before its names are replaced."""
    for part in query.find_all(exp.Select, exp.Window, exp.Group, exp.Join, exp.AggFunc):
        lines = [one.meta["line"] for one in part.find_all(exp.Identifier) if "line" in one.meta]
        if lines:
            part.meta["query_line"] = min(lines)


def _line_of(part: exp.Expr | None) -> int | None:
    if part is None:
        return None
    lines = [one.meta["query_line"] for one in part.walk() if "query_line" in one.meta]
    return lines[0] if lines else None
