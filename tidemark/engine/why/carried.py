"""Which rows of a table a row of a query's result is made from.

The columns of the table are carried through the query: each block above the table passes them on beside its
own columns, so joins and conditions drop the rows that they drop in the query. At the lowest block that makes
one row of many (groups, windows, DISTINCT), the carried rows are taken before it does, and with them the
columns that tell which row of the result they go to. After Y. Cui and J. Widom, "Tracing the Lineage of View
Data in a Warehousing Environment" (TODS 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from tidemark.engine.incremental.readings import present
from tidemark.engine.incremental.trace import ROW, Tracer
from tidemark.engine.incremental.tree import Block, Leaf, Node, SetOperation, fill, leaves, render, tables_of
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.why.lowest import alias_of, branch, ends, lowest

CARRIED, KEY, VALUE = "__tidemark_carried_{}", "__tidemark_key_{}", "__tidemark_value"
MEASURES = (exp.Sum, exp.Count, exp.Min, exp.Max, exp.Avg)
IS_THERE = "__tidemark_is_there"  # NULL where an outer join finds no row of the table
ENDING = (
    "group",
    "having",
    "distinct",
    "order",
    "limit",
    "offset",
    "windows",
    "qualify",
    "sort",
    "distribute",
    "cluster",
)


@dataclass(frozen=True)
class Carried:
    """The rows of one table, where a query reads it, with the columns that tell their row of the result.

    Attributes:
        leaf: the table.
        query: gives its columns, named by their numbers as CARRIED, and the keys as KEY.
        keys: the columns of the result that are known of each row, in the order of KEY; none if a part of the
            query needs all rows of the table for each row of the result.
        is_exact: whether the query's conditions were applied to the rows.
        measure: the aggregate that makes a column of the result of VALUE, which the query then gives as well;
            None if the rows do not make the column alone.
    """

    leaf: Leaf
    query: exp.Query
    keys: tuple[str, ...]
    is_exact: bool
    measure: exp.AggFunc | None = None

    @property
    def columns(self) -> list[str]:
        """The table's columns, in their order."""
        return self.leaf.names


def carried(root: Node, leaf: Leaf, keys: Sequence[str], column: str = "") -> Carried:
    """Return the rows of a table that the rows of a query's result are made from.

    Args:
        root: the query.
        leaf: one of its tables, at one place where the query reads it.
        keys: the columns of the result by which its rows are told apart.
        column: a column of the result, whose values the rows are to give if they make it alone.
    """
    found: Carried | None = None
    with suppress(Unsupported):
        part = lowest(root, leaf, keys, column)
        top, known = part.node, part.keys
        measure = _measure(top, leaf, part.column) if len(known) == len(keys) else None
        query = _taken(top, leaf, known, measure) if ends(top) else _passed(top, leaf, known)
        found = Carried(leaf, query, tuple(known), part.is_exact, measure)
    if found is not None and len(found.keys) == len(keys):
        return found
    traced = _traced(root, leaf, keys)
    return traced if found is None or len(traced.keys) > len(found.keys) else found


def _measure(node: Node, leaf: Leaf, column: str) -> exp.AggFunc | None:
    """Return the aggregate that makes a column of a table's rows alone, if one does."""
    if not isinstance(node, Block) or column not in node.outputs:
        return None
    found = node.outputs[column].unnest()
    if not isinstance(found, MEASURES) or isinstance(found.this, exp.Distinct) or found.expressions:
        return None
    if any(isinstance(one, SetOperation) for one in _parts(node)):
        return None
    is_of_rows = isinstance(found.this, exp.Star) and len(list(leaves(node))) == 1
    return found if is_of_rows or tables_of(found.this) == {alias_of(node, leaf)} else None


def _parts(node: Node) -> Iterator[Node]:
    """Yield a query and all queries in it."""
    yield node
    for _, child in () if isinstance(node, Leaf) else node.children():
        yield from _parts(child)


def _taken(block: Node, leaf: Leaf, known: Mapping[str, str], measure: exp.AggFunc | None) -> exp.Query:
    """Return the carried rows of a block before it makes one row of many."""
    assert isinstance(block, Block)  # noqa: S101
    alias = alias_of(block, leaf)
    select = block.select.copy()
    for name in ENDING:
        select.set(name, None)
    outputs = {one.alias_or_name: one.unalias() for one in select.expressions}
    keys = [_named(outputs[one], KEY.format(number)) for number, one in enumerate(known.values())]
    if measure is not None:
        is_count = isinstance(measure.this, exp.Star)
        keys.append(_named(exp.Literal.number(1) if is_count else measure.this, VALUE))
    select.set("expressions", [*_columns(leaf, alias), *keys])
    return _there(_filled(block, select, alias, leaf))


def _passed(root: Node, leaf: Leaf, known: Mapping[str, str]) -> exp.Query:
    """Return the carried rows at the top of a query of which each row is made of one row of the table."""
    if isinstance(root, Leaf):
        below: exp.Query = _read(root)
    else:
        below = _carry(root, leaf)
    keys = [
        _named(exp.column(one, quoted=True), KEY.format(number)) for number, one in enumerate(known.values())
    ]
    return _there(exp.select(*_columns(leaf), *keys).from_(below.subquery("passed")))


def _carry(node: Node, leaf: Leaf) -> exp.Query:
    """Return a query that gives the carried columns, too."""
    if isinstance(node, Leaf):
        return _read(node)
    if isinstance(node, SetOperation):
        child = branch(node, leaf)
        if len(set(child.names)) < len(child.names):
            raise Unsupported("a set operation with two columns of one name", node.operation)
        named = [
            _named(exp.column(old, quoted=True), new)
            for old, new in zip(child.names, node.names, strict=True)
        ]
        rows = _carry(child, leaf).subquery("branch")
        return exp.select(*named, *_columns(leaf)).from_(rows)
    alias = alias_of(node, leaf)
    select = node.select.copy()
    select.set("expressions", [*select.expressions, *_columns(leaf, alias)])
    return _filled(node, select, alias, leaf)


def _filled(block: Block, select: exp.Select, alias: str, leaf: Leaf) -> exp.Select:
    queries = {
        name: _carry(child, leaf) if name == alias else render(child, present)
        for name, child in block.children()
    }
    return fill(block, select, queries)


def _read(leaf: Leaf) -> exp.Select:
    """Return the table's rows, each column twice."""
    names = enumerate(leaf.names)
    twice = [_named(exp.column(name, quoted=True), CARRIED.format(number)) for number, name in names]
    return present(leaf).select(*twice, _named(exp.true(), IS_THERE))


def _columns(leaf: Leaf, alias: str = "") -> list[exp.Expr]:
    names = [*(CARRIED.format(number) for number in range(len(leaf.names))), IS_THERE]
    return [exp.column(name, table=alias or None, quoted=True) for name in names]


def _there(query: exp.Query) -> exp.Query:
    """Return the rows of a query in which the table has a row."""
    return exp.select("*").from_(query.subquery("carried")).where(exp.column(IS_THERE, quoted=True))


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression.copy(), name, quoted=True)


def _traced(root: Node, leaf: Leaf, keys: Sequence[str]) -> Carried:
    """Return the rows of a table that may alter a row of the result, by the values that they share."""
    tracer = Tracer(root, leaf, may_join=True)
    traces = {name: tracer.column(name) for name in keys}
    found = {name: one for name, one in traces.items() if one is not None and one.find(exp.Column)}
    values = [_named(one, KEY.format(number)) for number, one in enumerate(found.values())]
    columns = enumerate(leaf.names)
    named = [
        _named(exp.column(name, table=ROW, quoted=True), CARRIED.format(number)) for number, name in columns
    ]
    query = exp.select(*named, *values).from_(present(leaf).subquery(ROW))
    for join in tracer.joins.values():
        rows = render(join.node, present).subquery(join.alias)
        query = query.join(rows, on=exp.and_(*join.on), join_type="inner")
    return Carried(leaf, query, tuple(found), is_exact=False)
