"""The rows that a select reads: its sources, and the columns that follow from others.

A column follows from others if rows that are equal in these are equal in it: by a key of its table, or by an
equality of a join (functional dependencies; Maier, The Theory of Relational Databases, 1983).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from tidemark.engine.sqlcheck.columns import conditions, determined, same_name
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER

Column = tuple[str, str]  # the alias of a source, and a column
Key = frozenset[str]
MAX_KEYS = 12  # combinations of keys that are looked at


@dataclass(frozen=True)
class Rows:
    """The rows of a table or a query.

    Attributes:
        keys: sets of columns, each of which tells the rows apart; empty if none is known.
        columns: the names of its columns; None if they are not known.
    """

    keys: tuple[Key, ...] = ()
    columns: tuple[str, ...] | None = None


class Joined:
    """The rows that a select reads: its sources, and the columns that follow from others.

    Args:
        sources: the rows of each source, by alias; those of semi and anti joins are left out.
        select: the select.
    """

    def __init__(self, sources: dict[str, Rows], select: exp.Select) -> None:
        self.sources = sources
        self._links = list(self._equalities(select))
        self._constants = list(self._constant_columns(select))

    def column(self, column: exp.Column) -> Column | None:
        """Return a column with its source's alias; None if it does not say its source."""
        if column.table:
            return next(
                ((alias, column.name.lower()) for alias in self.sources if same_name(alias, column.table)),
                None,
            )
        if column.name == LANDING_ORDER:
            feeds = [
                alias for alias, rows in self.sources.items() if any(LANDING_ORDER in k for k in rows.keys)
            ]
            return (feeds[0], LANDING_ORDER) if feeds else None
        if len(self.sources) == 1:
            return next(iter(self.sources)), column.name.lower()
        known = [
            alias
            for alias, rows in self.sources.items()
            if rows.columns and column.name.lower() in rows.columns
        ]
        return (known[0], column.name.lower()) if len(known) == 1 else None

    def columns(self, expression: exp.Expr) -> set[Column]:
        """Return the columns that follow from the value of an expression."""
        found = (self.column(one) for one in determined(expression))
        return {one for one in found if one is not None}

    def follows(self, given: Iterable[Column]) -> tuple[set[Column], set[str]]:
        """Return the columns, and the sources, that follow from some columns."""
        known, whole = {*given, *self._constants}, set[str]()
        while True:
            before = len(known), len(whole)
            for alias, rows in self.sources.items():
                if any(all((alias, name) in known for name in key) for key in rows.keys):
                    whole.add(alias)
            for left, right in self._links:
                if left in known or left[0] in whole:
                    known.add(right)
            if (len(known), len(whole)) == before:
                return known, whole

    def found_keys(self) -> list[frozenset[Column]]:
        """Return the sets of columns that tell the joined rows apart; none if a source has no known key."""
        if not self.sources:
            return []
        choices = [
            [{(alias, name) for name in key} for key in rows.keys] for alias, rows in self.sources.items()
        ]
        found: list[frozenset[Column]] = []
        for some in list(product(*choices))[:MAX_KEYS]:
            kept = list(some)
            for part in reversed(some):
                others = [one for one in kept if one is not part]
                if self.follows(set().union(*others))[1] == set(self.sources):
                    kept = others
            found.append(frozenset(set().union(*kept) - set(self._constants)))
        return list(dict.fromkeys(found))

    def equal_to(self, column: Column) -> set[Column]:
        """Return a column, and those that follow from it and it from them."""
        found = {column}
        while (
            more := {right for left, right in self._links if left in found and (right, left) in self._links}
            - found
        ):
            found |= more
        return found

    def _equalities(self, select: exp.Select) -> Iterator[tuple[Column, Column]]:
        """Yield pairs of columns, the second of which follows from the first."""
        for side, condition in conditions(select):
            if not isinstance(condition, (exp.EQ, exp.NullSafeEQ)):
                continue
            one, two = condition.left.unnest(), condition.right.unnest()
            if not isinstance(one, exp.Column) or not isinstance(two, exp.Column):
                continue
            left, right = self.column(one), self.column(two)
            if left is None or right is None:
                continue
            if side[0] in ("", "inner", "cross"):
                yield from ((left, right), (right, left))
            elif side[0] in ("left", "right"):
                inner, outer = (left, right) if same_name(left[0], side[1]) else (right, left)
                # of a left join, the joined side follows from the row of the other side; and the reverse
                yield (outer, inner) if side[0] == "left" else (inner, outer)

    def _constant_columns(self, select: exp.Select) -> Iterator[Column]:
        for side, condition in conditions(select):
            if side[0] in ("", "inner", "cross") and isinstance(condition, exp.EQ):
                pair = condition.left.unnest(), condition.right.unnest()
                for one, two in (pair, pair[::-1]):
                    if isinstance(one, exp.Column) and isinstance(two, exp.Literal):
                        found = self.column(one)
                        if found is not None:
                            yield found
