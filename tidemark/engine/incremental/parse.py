"""Parse a compiled query: qualify its columns, open views, inline CTEs, and build its tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope
from sqlglot.schema import MappingSchema

from tidemark.engine.incremental.idle_limits import without_idle_limits
from tidemark.engine.incremental.laterals import has_laterals, without_laterals
from tidemark.engine.incremental.notation import (
    read,
    refuse_unreadable,
    resolved,
    unreadable,
    without_using,
)
from tidemark.engine.incremental.spelling import plain
from tidemark.engine.incremental.tree import Node, build
from tidemark.engine.incremental.unsupported import Unsupported, note_lines

DIALECT = "spark"


class Catalog(Protocol):
    """What parsing must know of the tables and functions that a query names."""

    def columns(self, table: str) -> dict[str, str] | None:
        """Return the Spark types of a table's or view's columns, by name; None if there is no such table."""

    def view(self, table: str) -> str | None:
        """Return the query of a view; None for a table."""

    def group(self, function: str) -> str:
        """Return Spark's group of a function, such as `agg_funcs`; empty for a user-defined function."""


@dataclass(frozen=True)
class Parsed:
    """A parsed query.

    Attributes:
        tree: its tree, in which views are opened, without limits that change nothing.
        parts: the text of the query and of each view below it, with a tree in which views are tables. The
            caller can ask Spark whether both mean the same.
        readings: the texts with lateral subqueries, and as what sqlglot reads them: both have to mean the
            same, too. Their `parts` have the text without lateral subqueries.
    """

    tree: Node
    parts: tuple[tuple[str, Node], ...]
    readings: tuple[tuple[str, exp.Query], ...] = ()


@dataclass(frozen=True)
class Closed:
    """A catalog in which views are tables."""

    catalog: Catalog

    def columns(self, table: str) -> dict[str, str] | None:
        """Return what the catalog tells."""
        return self.catalog.columns(table)

    def view(self, table: str) -> str | None:
        """Return None: there are no views."""
        del table
        return None

    def group(self, function: str) -> str:
        """Return what the catalog tells."""
        return self.catalog.group(function)


def parse(sql: str, catalog: Catalog) -> Parsed:
    """Parse a query into a tree.

    Args:
        sql: the query, in Spark's dialect.
        catalog: describes the tables and functions that it names.

    Raises:
        Unsupported: if the query cannot be parsed, reads something else than tables, or calls a function
            that Spark does not know as one of its own.
    """
    first = _Reading(catalog)
    tree = first.tree(sql)
    closed = _Reading(Closed(catalog))
    texts = (sql, *first.opened)
    trees = [closed.tree(text) for text in texts] if first.opened else [tree]
    readings = {**first.readings, **closed.readings}
    as_joins = [readings[text][1] if text in readings else text for text in texts]
    given = tuple((text, as_read) for text, (as_read, _) in readings.items())
    return Parsed(without_idle_limits(tree), tuple(zip(as_joins, trees, strict=True)), given)


def tree_of(sql: str, catalog: Catalog) -> Node:
    """Parse a query into a tree in which views are tables.

    Raises:
        Unsupported: as `parse` does.
    """
    return _Reading(Closed(catalog)).tree(sql)


@dataclass
class _Reading:
    """A query and the views below it, as they are read.

    Attributes:
        catalog: describes the tables and functions.
        opened: the queries of the views.
        readings: the texts with lateral subqueries: as sqlglot reads them, and without these.
    """

    catalog: Catalog
    opened: list[str] = field(default_factory=list)
    readings: dict[str, tuple[exp.Query, str]] = field(default_factory=dict)

    def tree(self, sql: str) -> Node:
        """Return the tree of a query.

        Raises:
            Unsupported: as `parse` does.
        """
        try:
            query = self._qualified(sql)
            scope = build_scope(annotate_types(query, schema=_schema(query, self.catalog), dialect=DIALECT))
        except SqlglotError as error:
            raise Unsupported(unreadable(error)) from None
        if scope is None:
            raise Unsupported("a statement that is not a query")
        return build(scope)

    def _qualified(self, sql: str) -> exp.Query:
        catalog = self.catalog
        parsed = read(plain(sql))
        note_lines(parsed)
        refuse_unreadable(parsed)
        parsed = resolved(parsed, lambda table: _columns(table, catalog))
        query = qualify(parsed, schema=_schema(parsed, catalog), dialect=DIALECT)
        query = without_using(query)
        query = _without_ctes(query)
        for function in query.find_all(exp.Anonymous):
            function.meta["group"] = catalog.group(function.name)
            if not function.meta["group"]:
                raise Unsupported(f"the function {function.name}()")
        if has_laterals(query):
            as_read = query.copy()
            without_laterals(query)
            self.readings[sql] = as_read, query.sql(DIALECT)
        for table in list(query.find_all(exp.Table)):
            self._open(table)
        return query

    def _open(self, table: exp.Table) -> None:
        below = self.catalog.view(_name(table))
        if below is None:
            table.meta["columns"] = _columns(table, self.catalog)
            return
        self.opened.append(below)
        inside = self._qualified(below)
        if [name.lower() for name in inside.named_selects] != list(_columns(table, self.catalog)):
            raise Unsupported(f"the column list of the view {_name(table)}")
        table.replace(inside.subquery(table.args["alias"].copy()))


def _schema(query: exp.Expr, catalog: Catalog) -> MappingSchema:
    schema = MappingSchema(dialect=DIALECT)
    for table in query.find_all(exp.Table):
        if table.db:
            schema.add_table(_name(table), _columns(table, catalog), dialect=DIALECT)
    return schema


def _columns(table: exp.Table, catalog: Catalog) -> dict[str, str]:
    columns = catalog.columns(_name(table)) if isinstance(table.this, exp.Identifier) else None
    if columns is None:
        raise Unsupported(f"{table.sql(DIALECT)}, which is not a ref() or source()")
    return {name.lower(): kind for name, kind in columns.items()}


def _name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts).lower()


def _without_ctes(query: exp.Query) -> exp.Query:
    """Put each CTE where it is read. Spark does the same when it optimizes a query."""
    for found in reversed(list(query.find_all(exp.With))):
        parent = found.parent
        assert parent is not None  # noqa: S101
        found.pop()
        ready: dict[str, exp.Expr] = {}
        for cte in found.expressions:
            _inline(cte.this, ready)
            ready[cte.alias] = _renamed(cte)
        _inline(parent, ready)
    return query


def _inline(query: exp.Expr, ready: Mapping[str, exp.Expr]) -> None:
    for table in list(query.find_all(exp.Table)):
        if not table.db and table.name in ready:
            below = ready[table.name].copy()
            name = exp.to_identifier(table.alias_or_name, quoted=True)
            table.replace(below.subquery(name, copy=False))  # type: ignore[attr-defined]


def _renamed(cte: exp.CTE) -> exp.Expr:
    """Return a CTE's query; its column list, as in `with t(a, b) as …`, becomes the names of its columns."""
    query: exp.Expr = cte.this
    first = query
    while isinstance(first, exp.SetOperation):
        first = first.this
    names = cte.args["alias"].args.get("columns") or []
    if names and isinstance(first, exp.Select):
        for name, one in zip(names, list(first.expressions), strict=True):
            one.replace(exp.alias_(one.unalias().copy(), name.copy()))
    elif names:
        raise Unsupported("with … (columns)", query)
    return query
