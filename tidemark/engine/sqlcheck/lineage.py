"""The readings that supply the rows of a model's selects, also through common table expressions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tidemark.engine.sqlcheck.parsing import ModelSql, Reading


class Lineage:
    """The readings behind each select of a model.

    Args:
        model: the parsed model.
    """

    def __init__(self, model: ModelSql) -> None:
        self._model = model
        self._expressions = {cte.alias: cte.this for cte in model.tree.find_all(exp.CTE)}
        self._known: dict[str, list[Reading]] = {}

    def selects_from(self, kind: str) -> Iterator[exp.Select]:
        """Yield each select that reads rows of a kind of reading; distinct values of rows are no rows."""
        for select in self._model.tree.find_all(exp.Select):
            if any(reading.kind == kind for reading in self._readings(select)):
                yield select

    def _readings(self, select: exp.Select) -> list[Reading]:
        return [reading for table in tables_of(select) for reading in self._of_table(table)]

    def _of_table(self, table: exp.Expr) -> list[Reading]:
        if isinstance(table, exp.Subquery):
            return self._of_query(table.this)
        if table.name in self._model.readings:
            return [self._model.readings[table.name]]
        if table.name in self._expressions:
            if table.name not in self._known:
                self._known[table.name] = []  # for an expression that reads itself
                self._known[table.name] = self._of_query(self._expressions[table.name])
            return self._known[table.name]
        return []

    def _of_query(self, query: exp.Expr) -> list[Reading]:
        if isinstance(query, exp.SetOperation):
            return [*self._of_query(query.left), *self._of_query(query.right)]
        if isinstance(query, exp.Subquery):
            return self._of_query(query.this)
        if not isinstance(query, exp.Select):
            return []
        only_values = query.args.get("group") is not None and not aggregates_of(query)
        return [] if only_values or query.args.get("distinct") is not None else self._readings(query)


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
