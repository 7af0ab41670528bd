"""Trace columns of a query's result back to one of the tables that it reads.

A trace of a column is an expression over the columns of one table, such that a changed row of the table
alters only rows of the result in which the column has the value that the expression gives for the changed row
(before or after the change). It may need joins with the query's other sources.

Where a block joins A and B, a change of A alters results that consist of a row of A before or after the
change and a row of B before or after. So the joined sources are read with their present and previous rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from tidemark.engine.incremental.equalities import Equality, equalities, null_supplied
from tidemark.engine.incremental.links import check_nested, holds_among, paths, side_of_pair, under
from tidemark.engine.incremental.safety import require_safe
from tidemark.engine.incremental.shape import Shape, refuse_set_operation, refuse_unsupported
from tidemark.engine.incremental.tree import (
    Block,
    Leaf,
    Node,
    SetOperation,
    leaves,
    tables_of,
    type_of,
)
from tidemark.engine.incremental.unsupported import Unsupported, as_written

ROW = "__tidemark_row"  # the changed row, in a trace


@dataclass(frozen=True)
class Join:
    """A source that a trace joins: under which alias, and on which conditions."""

    alias: str
    node: Node
    on: tuple[exp.Expr, ...]


@dataclass(frozen=True)
class Place:
    """Where a trace looks at an expression.

    Attributes:
        block: the block whose sources the expression is over.
        inside: the source that has the changed row.
        seen: the equalities that have been followed on the way to the expression.
        is_origin: whether the expression is a column of the block's result.
        may_join: whether other sources of the block may be joined.
    """

    block: Block
    inside: str
    seen: frozenset[Equality] = frozenset()
    is_origin: bool = False
    may_join: bool = False


@dataclass
class Tracer:
    """Traces columns of a query to one table.

    Attributes:
        root: the query.
        leaf: the table, at one place where the query reads it.
        may_join: whether traces may join other sources.
        joins: the joins that the traces so far need.
        why: the construct that stopped the last trace.
    """

    root: Node
    leaf: Leaf
    may_join: bool = False
    joins: dict[tuple[int, str], Join] = field(default_factory=dict)
    why: Unsupported | None = None
    numbers: Iterator[int] = field(default_factory=count)
    found: dict[tuple[int, str], exp.Expr | Unsupported] = field(default_factory=dict)

    def column(self, name: str) -> exp.Expr | None:
        """Return the trace of a column of the result, or None; `why` then says what prevents it."""
        before = dict(self.joins)
        try:
            return require_safe(self._output(self.root, name))
        except Unsupported as found:
            self.why, self.joins = found, before
            return None

    def _output(self, node: Node, name: str) -> exp.Expr:
        """Return a column of a query over the changed row; without joins, each is found once."""
        if self.may_join:
            return self._found(node, name)
        place = id(node), name
        if place not in self.found:
            try:
                self.found[place] = self._found(node, name)
            except Unsupported as why:
                self.found[place] = why
        found = self.found[place]
        if isinstance(found, Unsupported):
            raise found.with_traceback(None)
        return found.copy()

    def _found(self, node: Node, name: str) -> exp.Expr:
        if isinstance(node, Leaf):
            column = exp.column(name, table=ROW, quoted=True)
            column.type = exp.DataType.build(node.columns[name], dialect="spark")
            return column
        if isinstance(node, SetOperation):
            refuse_set_operation(node)
            child = node.left if self._holds(node.left) else node.right
            if len(set(child.names)) < len(child.names):
                raise Unsupported("a set operation with two columns of one name", node.operation)
            index = node.names.index(name)
            if type_of(node.left, index) is None or type_of(node.left, index) != type_of(node.right, index):
                raise Unsupported("a set operation of different types", node.operation)
            return self._output(child, child.names[index])
        refuse_unsupported(node)
        expression = node.outputs[name]
        hidden = Shape(node).hides(expression)
        if hidden is not None:
            raise hidden
        return self._rows(Place(node, self._inside(node), is_origin=True, may_join=self.may_join), expression)

    def _rows(self, place: Place, expression: exp.Expr) -> exp.Expr:
        """Return an expression over a block's sources as one over the changed row of the source `inside`."""
        block, inside = place.block, place.inside
        if inside in block.nested:
            check_nested(block, inside)

        def replaced(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Coalesce):
                side = side_of_pair(block, part, inside)
                return self._column(Place(block, inside, place.seen), side) if side is not None else part
            return self._column(place, part) if isinstance(part, exp.Column) else part

        if isinstance(expression, exp.Column):
            return self._column(place, expression)
        return expression.transform(replaced)

    def _column(self, place: Place, column: exp.Expr) -> exp.Expr:
        block, inside = place.block, place.inside
        if not isinstance(column, exp.Column):
            raise Unsupported(as_written(column), column)
        why = "a column of an outer join"
        if column.table == inside and not (place.is_origin and inside in null_supplied(block)):
            try:
                return self._inner(block, inside, column)
            except Unsupported as found:
                why = found.construct
        for equality in equalities(block):
            applies = equality.replaces and equality.same_type and equality.left == column
            applies = applies and holds_among(equality, [inside])
            if applies and equality not in place.seen:
                try:
                    return self._side(place, equality)
                except Unsupported as found:
                    why = found.construct
        if column.table == inside or column.table in null_supplied(block):
            raise Unsupported(why, column)
        if not place.may_join:
            raise Unsupported("a join")
        return under(column, self._join(block, inside, column.table))

    def _side(self, place: Place, equality: Equality) -> exp.Expr:
        """Return the right side of an equality as an expression over the changed row."""
        if equality.sources[1] in place.block.nested:
            if equality.sources[1] != place.inside:
                raise Unsupported("a subquery")
            found = self._nested(place.block, place.inside, equality.right)
        else:
            found = self._rows(Place(place.block, place.inside, place.seen | {equality}), equality.right)
        found.type = equality.right.type
        if equality.left.type == equality.right.type or equality.left.type is None:
            return found
        return exp.cast(found, equality.left.type)

    def _inner(self, block: Block, inside: str, column: exp.Column) -> exp.Expr:
        if inside in block.nested:
            return self._nested(block, inside, column)
        return self._output(block.items[inside].node, column.name)

    def _nested(self, block: Block, inside: str, expression: exp.Expr) -> exp.Expr:
        """Trace an expression inside a subquery: a column of its result, or of its own sources."""
        nested = block.nested[inside]
        if tables_of(expression) == {inside}:
            return self._output(nested.node, expression.name)
        if not isinstance(nested.node, Block):
            raise Unsupported("a subquery with union")
        refuse_unsupported(nested.node)
        return self._rows(Place(nested.node, self._inside(nested.node), may_join=self.may_join), expression)

    def _join(self, block: Block, inside: str, wanted: str) -> str:
        """Join a source of a block, over others if need be; return its alias."""
        if (id(block), wanted) in self.joins:
            return self.joins[id(block), wanted].alias
        for path in paths(block, inside, wanted):
            before = dict(self.joins)
            try:
                for index in range(1, len(path)):
                    self._add(block, inside, path[:index], path[index])
                return self.joins[id(block), wanted].alias
            except Unsupported:
                self.joins = before
        raise _no_equality(block, wanted)

    def _add(self, block: Block, inside: str, known: list[str], alias: str) -> None:
        if (id(block), alias) in self.joins:
            return
        item = block.items[alias]
        name = f"__tidemark_join_{next(self.numbers)}"
        conditions = []
        for equality in equalities(block):
            source, target = equality.sources
            applies = target == alias and source in known and holds_among(equality, known)
            if applies and not equality.may_fail:
                try:
                    left = self._known(block, inside, equality)
                except Unsupported:
                    continue
                right = require_safe(under(equality.right, name))
                same = exp.NullSafeEQ if equality.null_safe else exp.EQ
                conditions.append(same(this=exp.paren(require_safe(left)), expression=exp.paren(right)))
        if not conditions:
            raise _no_equality(block, alias)
        self.joins[id(block), alias] = Join(name, item.node, tuple(conditions))

    def _known(self, block: Block, inside: str, equality: Equality) -> exp.Expr:
        """Return the left side of an equality over the changed row or the sources joined so far."""
        source = equality.sources[0]
        if source == inside:
            if inside in block.nested:
                return self._nested(block, inside, equality.left)
            return self._rows(Place(block, inside), equality.left)
        alias = self.joins[id(block), source].alias
        return under(equality.left, alias)

    def _inside(self, block: Block) -> str:
        return next(alias for alias, child in block.children() if self._holds(child))

    def _holds(self, node: Node) -> bool:
        return any(found is self.leaf for found in leaves(node))


def _no_equality(block: Block, alias: str) -> Unsupported:
    """Return the reason why the rows of a source cannot be found from those of the others."""
    conditions = [item.on for item in block.items.values() if item.on is not None]
    for on in conditions:
        if alias in tables_of(on):
            what = "not all rows meet" if on.find(exp.EQ, exp.NullSafeEQ) else "is not an equality"
            return Unsupported(f"a join on {as_written(on)}, which {what}", on)
    return Unsupported(f"a join with {alias} without an equality", block.select)
