"""The columns that tell rows of tables, subqueries and joins apart, as far as the SQL shows them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlglot import exp

from tidemark.engine.sqlcheck.columns import same_name, sources_of
from tidemark.engine.sqlcheck.finding import Table, Tables
from tidemark.engine.sqlcheck.joined import MAX_KEYS, Column, Joined, Key, Rows
from tidemark.engine.sqlcheck.lineage import aggregates_of
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER, ModelSql, Reading


class Grains:
    """The keys of the rows of each select of a model.

    Args:
        model: the parsed model.
        tables: the known tables that it reads.
    """

    def __init__(self, model: ModelSql, tables: Tables) -> None:
        self._model, self._tables = model, tables
        self._queries = {cte.alias.lower(): cte.this for cte in model.tree.find_all(exp.CTE)}
        self._known: dict[str, Rows] = {}

    def joined(self, select: exp.Select) -> Joined:
        """Return the rows that a select reads."""
        sources = {alias: self._rows_of(table) for alias, table in sources_of(select)}
        if select.args.get("laterals"):
            sources["lateral view"] = Rows()
        return Joined(sources, select)

    def rows(self, query: exp.Expr) -> Rows:
        """Return the keys and the columns of a query's result."""
        if isinstance(query, exp.Subquery):
            return self.rows(query.this)
        if isinstance(query, exp.SetOperation):
            return self._united(query)
        if not isinstance(query, exp.Select) or query.args.get("laterals") or query.args.get("pivots"):
            return Rows()
        joined = self.joined(query)
        columns = _output_columns(query, joined)
        if any(one.find(exp.Explode, exp.Posexplode, exp.Inline) for one in query.expressions):
            return Rows((), columns)
        group = query.args.get("group")
        if group is not None or aggregates_of(query):
            return Rows(_group_keys(query, joined), columns)
        keys = [*_projected(query, joined), *_numbered(query)]
        if query.args.get("distinct") and columns is not None:
            keys.append(frozenset(columns))
        return Rows(tuple(keys), columns)

    def _rows_of(self, table: exp.Expr) -> Rows:
        if isinstance(table, exp.Subquery):
            return self.rows(table.this)
        name = table.name
        if name in self._model.readings:
            return self._read(self._model.readings[name])
        if name.lower() in self._queries:
            if name.lower() not in self._known:
                self._known[name.lower()] = Rows()  # for an expression that reads itself
                self._known[name.lower()] = self.rows(self._queries[name.lower()])
            return self._known[name.lower()]
        return Rows()

    def _read(self, reading: Reading) -> Rows:
        if reading.kind not in ("relation", "changes"):
            return Rows()
        table = self._tables.get(reading.relation, Table())
        keys = [key for key in (table.grain, *table.keys) if key]
        if not reading.is_direct:  # the macro may give columns other names
            keys = [key for key in keys if all(name.startswith("_") for name in key)]
        return Rows(tuple(dict.fromkeys(frozenset(one.lower() for one in key) for key in keys)))

    def _united(self, query: exp.SetOperation) -> Rows:
        left, right = self.rows(query.left), self.rows(query.right)
        columns = left.columns
        if not isinstance(query, exp.Union):
            every = (frozenset(columns),) if columns and query.args.get("distinct") else ()
            return Rows((*left.keys, *every), columns)
        if query.args.get("distinct"):
            return Rows((frozenset(columns),) if columns else (), columns)
        marker = _marker(query)
        if marker is None or columns is None or right.columns is None or len(columns) != len(right.columns):
            return Rows((), columns)
        names = dict(zip(right.columns, columns, strict=True))
        keys = [
            one | {names.get(name, name) for name in two} | {marker}
            for one, two in list(product(left.keys, right.keys))[:MAX_KEYS]
        ]
        return Rows(tuple(dict.fromkeys(keys)), columns)


def _marker(query: exp.SetOperation) -> str | None:
    """Return the column of a union whose value tells the branch: a literal in each, all different."""
    branches = list(_branches(query))
    if not all(isinstance(one, exp.Select) for one in branches):
        return None
    for index, first in enumerate(branches[0].expressions):
        values = [one.expressions[index].unalias() for one in branches if index < len(one.expressions)]
        are_literals = len(values) == len(branches) and all(isinstance(one, exp.Literal) for one in values)
        if are_literals and len({one.sql() for one in values}) == len(values):
            return str(first.alias_or_name).lower()
    return None


def _branches(query: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(query, exp.Union):
        yield from (*_branches(query.left), *_branches(query.right))
    elif isinstance(query, exp.Subquery):
        yield from _branches(query.this)
    else:
        yield query


def _output_columns(select: exp.Select, joined: Joined) -> tuple[str, ...] | None:
    names: list[str] = []
    for one in select.expressions:
        star = _starred(one, joined)
        if star is None:
            names.append(one.alias_or_name.lower())
            continue
        for alias in star:
            columns = joined.sources[alias].columns
            if columns is None:
                return None
            names += columns
    return tuple(names) if all(names) else None


def _starred(one: exp.Expr, joined: Joined) -> list[str] | None:
    """Return the sources whose columns a `*` stands for; None for another expression."""
    if isinstance(one, exp.Star):
        return list(joined.sources)
    if isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
        return [alias for alias in joined.sources if same_name(alias, one.table)]
    return None


def _names(select: exp.Select, joined: Joined, column: Column) -> set[str]:
    """Return the names that a column has in a select's result."""
    names = set()
    if column[1] == LANDING_ORDER:
        return {LANDING_ORDER}  # stands for columns that the select may name one by one
    wanted = joined.equal_to(column)
    for one in select.expressions:
        star = _starred(one, joined)
        if star is not None:
            names |= {name for alias, name in wanted if alias in star}
        elif isinstance(one.unalias(), exp.Column) and joined.column(one.unalias()) in wanted:
            names.add(one.alias_or_name.lower())
    return names


def _projected(select: exp.Select, joined: Joined) -> Iterator[Key]:
    """Yield the keys of the joined rows whose columns a select returns."""
    for key in joined.found_keys():
        named = [sorted(_names(select, joined, column)) for column in key]
        if all(named):
            yield frozenset(names[0] for names in named)


def _numbered(select: exp.Select) -> Iterator[Key]:
    """Yield the partition and the number that row_number() gives, if the select returns both."""
    for one in select.expressions:
        window = one.unalias()
        if isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber):
            parts = window.args.get("partition_by") or []
            if all(isinstance(part, exp.Column) for part in parts):
                yield frozenset({one.alias_or_name.lower(), *(part.name.lower() for part in parts)})


def _group_keys(select: exp.Select, joined: Joined) -> tuple[Key, ...]:
    group = select.args.get("group")
    if group is None:
        return (frozenset(),)  # one row
    if any(group.args.get(name) for name in ("all", "rollup", "cube", "grouping_sets")):
        return ()
    by = [grouped(part, select) for part in group.expressions]
    names = []
    for part in by:
        column = joined.column(part) if isinstance(part, exp.Column) else None
        found = _names(select, joined, column) if column else set()
        found |= {one.alias_or_name.lower() for one in select.expressions if one.unalias() == part}
        if not found:
            return ()
        names.append((column, sorted(found)[0]))
    kept = list(names)
    for one in reversed(names):  # leave out what follows from the others
        others = [other for other in kept if other is not one]
        given = {column for column, _ in others if column is not None}
        if one[0] is not None and (one[0] in (after := joined.follows(given))[0] or one[0][0] in after[1]):
            kept = others
    return (frozenset(name for _, name in kept),)


def grouped(part: exp.Expr, select: exp.Select) -> exp.Expr:
    """Return an expression of GROUP BY; for a number or an alias, the column of the result that it means."""
    if isinstance(part, exp.Literal) and not part.is_string:
        place = int(part.this) - 1
        return select.expressions[place].unalias() if place < len(select.expressions) else part
    if isinstance(part, exp.Column) and not part.table:
        for one in select.expressions:
            if isinstance(one, exp.Alias) and same_name(one.alias, part.name) and not one.find(exp.AggFunc):
                return one.this if not isinstance(one.this, exp.Column) else part
    return part
