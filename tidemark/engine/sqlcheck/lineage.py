"""The readings of a model's selects: direct ones, and those through common table expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.engine.sqlcheck.parsing import ModelSql, Reading


@dataclass
class Origin:
    """The origin of the rows of a select.

    Attributes:
        rows: the readings that supply the rows.
        keys: the readings that supply the keys of these rows.
        is_keys: whether the select returns only keys: touched keys, or distinct values.
        is_rows: whether each row is a row of one table.
    """

    rows: list[Reading] = field(default_factory=list)
    keys: list[Reading] = field(default_factory=list)
    is_keys: bool = False
    is_rows: bool = True

    def reads(self, kind: str) -> list[Reading]:
        """Return the readings of a kind that supply rows."""
        return [reading for reading in self.rows if reading.kind == kind]

    def as_keys(self) -> Origin:
        """Return the origin of the distinct values of these rows."""
        return Origin([], [*self.rows, *self.keys], is_keys=True, is_rows=False)


class Lineage:
    """The origins of all selects of a model.

    Args:
        model: the parsed model.
    """

    def __init__(self, model: ModelSql) -> None:
        self._model = model
        self._expressions = {cte.alias: cte.this for cte in model.tree.find_all(exp.CTE)}
        self._known: dict[str, Origin] = {}

    def selects(self) -> Iterator[tuple[exp.Select, dict[str, Origin]]]:
        """Yield each select with the origins of its tables, by alias."""
        for select in self._model.tree.find_all(exp.Select):
            yield select, self.sources(select)

    def sources(self, select: exp.Select) -> dict[str, Origin]:
        """Return the origins of the tables that a select reads, by alias."""
        return {table.alias_or_name: self._origin_of_table(table) for table in tables_of(select)}

    def final(self) -> exp.Select | None:
        """Return the select that names the model's columns; None if they come from a table by `*`."""
        query = self._model.tree
        while isinstance(query, exp.Select) and [type(column) for column in query.expressions] == [exp.Star]:
            read = [table.name for table in tables_of(query)]
            if len(read) != 1 or read[0] not in self._expressions:
                return None
            query = self._expressions[read[0]]
        return query if isinstance(query, exp.Select) else None

    def names_of(self, column: str) -> set[str]:
        """Return a column's name and its aliases in any select."""
        names = {column}
        renamed = (a for a in self._model.tree.find_all(exp.Alias) if isinstance(a.this, exp.Column))
        aliases = [(alias.alias, alias.this.name) for alias in renamed]
        while more := {alias for alias, name in aliases if name in names} - names:
            names |= more
        return names

    def _origin_of_table(self, table: exp.Expr) -> Origin:
        if isinstance(table, exp.Subquery):
            return self._origin(table.this)
        if table.name in self._model.readings:
            reading = self._model.readings[table.name]
            return Origin([reading]).as_keys() if reading.kind == "touched_keys" else Origin([reading])
        if table.name in self._expressions:
            if table.name not in self._known:
                self._known[table.name] = Origin()  # for an expression that reads itself
                self._known[table.name] = self._origin(self._expressions[table.name])
            return self._known[table.name]
        return Origin(is_rows=False)

    def _origin(self, query: exp.Expr) -> Origin:
        if isinstance(query, exp.SetOperation):
            return merged([self._origin(query.left), self._origin(query.right)])
        if isinstance(query, exp.Subquery):
            return self._origin(query.this)
        if not isinstance(query, exp.Select):
            return Origin(is_rows=False)
        origin = merged(self.sources(query).values())
        is_distinct = query.args.get("distinct") is not None
        is_grouped = query.args.get("group") is not None
        aggregates = aggregates_of(query)
        if is_distinct or (is_grouped and not aggregates):
            return origin.as_keys()
        origin.is_rows &= not is_grouped and not aggregates
        return origin


def merged(origins: Iterable[Origin]) -> Origin:
    """Return the origin of rows that combine several origins."""
    some = list(origins)
    return Origin(
        [reading for origin in some for reading in origin.rows],
        [reading for origin in some for reading in origin.keys],
        is_keys=bool(some) and all(origin.is_keys for origin in some),
        is_rows=len(some) == 1 and some[0].is_rows,
    )


def tables_of(select: exp.Select) -> list[exp.Expr]:
    """Return the tables that a select reads: in `from` and in joins."""
    first = select.args.get("from_") or select.args.get("from")
    joined = [join.this for join in select.args.get("joins") or []]
    return [table for table in ([first.this] if first else []) + joined if table is not None]


def aggregates_of(select: exp.Select) -> list[exp.Expr]:
    """Return the aggregates that a select itself computes, without window functions."""
    return [
        found
        for part in (*select.expressions, select.args.get("having"))
        if part is not None
        for found in part.find_all(exp.AggFunc)
        if found.parent_select is select and not found.find_ancestor(exp.Window)
    ]


def line_of(node: exp.Expr) -> int:
    """Return the line on which an expression begins, or the nearest line that is known."""
    lines = [part.meta["line"] for part in node.walk() if "line" in part.meta]
    return min(lines) if lines else line_of(node.parent) if node.parent else 1
