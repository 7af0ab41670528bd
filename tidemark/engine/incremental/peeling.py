"""Take the last operator of a SELECT off: a core below it, which may become a stage, and a top over the core.

Each peel gives the same rows as the SELECT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from tidemark.engine.incremental.partials import LEVELS, STAGED, Columns, of_core, partial_aggregates
from tidemark.engine.incremental.shape import Shape
from tidemark.engine.incremental.tree import Block, Item, Leaf, Node, conjuncts, placeholder, tables_of

LIMITS = ("limit", "offset")
NAME = re.compile(r"[a-z_][a-z0-9_]*")  # of a column that each format takes
OF_CORE = ("joins", "where", "laterals", "from_")
OF_TOP = ("group", "having", "distinct", "windows", "qualify")


@dataclass(frozen=True)
class Peeled:
    """A SELECT in two parts.

    Attributes:
        core: the query below.
        top: gives the query over the core, or over a table with its rows, from the types of its columns.
    """

    core: Node
    top: Callable[[Node, Columns], Node]


def over(select: exp.Select, node: Node, types: Columns) -> Block:
    """Return a SELECT of columns of `staged` as a block that reads a query with columns of some types."""
    select = select.copy()
    select.set("from_", exp.From(this=placeholder(STAGED)))
    for column in select.find_all(exp.Column):
        if column.table == STAGED and column.name in types:
            column.type = exp.DataType.build(types[column.name], dialect="spark")
    return Block(select, {STAGED: Item(STAGED, node, "from")})


def columns_of(leaf: Leaf) -> Block:
    """Return a SELECT of all columns of a table."""
    return over(exp.select(*(_named(name) for name in leaf.names)), leaf, leaf.columns)


def without_limit(block: Block) -> Peeled | None:
    """Peel ORDER BY and LIMIT off.

    The core has the columns of the order, too, and names of columns that each format takes.
    """
    arguments = block.select.args
    order = arguments.get("order")
    if not order or not is_limited(block):
        return None
    core, ordered = bare(block.select, ("order", *LIMITS)), []
    plain = {
        name: name if NAME.fullmatch(name) else f"value_{number}" for number, name in enumerate(block.names)
    }
    for number, one in enumerate(order.expressions):
        name = _output_of(block, one.this)
        if name is None:
            if arguments.get("distinct"):
                return None
            name = f"ordered_{number}"
            core.append("expressions", exp.alias_(_without_aliases(block, one.this), name, quoted=True))
        by = one.copy()
        by.set("this", of_core(plain.get(name, name)))
        ordered.append(by)
    for one in core.expressions:
        if one.alias_or_name in plain:
            one.replace(exp.alias_(one.unalias(), plain[one.alias_or_name], quoted=True))
    top = exp.select(*(exp.alias_(of_core(plain[name]), name, quoted=True) for name in block.names))
    top.set("order", exp.Order(expressions=ordered))
    for part in LIMITS:
        if arguments.get(part):
            top.set(part, arguments[part].copy())
    return Peeled(Block(core, block.items, block.nested), lambda node, types: over(top, node, types))


def without_hidden_keys(block: Block) -> Peeled | None:
    """Give the core the keys of GROUP BY, of windows and of full joins that the select leaves out."""
    arguments = block.select.args
    if arguments.get("distinct") or has_levels(block) or is_limited(block):
        return None
    shape = Shape(block)
    wanted = [*(shape.groups or ()), *(key for keys in shape.partitions for key in keys)]
    if shape.row_by_row and any(item.side == "full" for item in block.items.values()):
        wanted += _joined_by(block)
    if any(one.find(exp.AggFunc, exp.Window, exp.Placeholder) for one in wanted):
        return None
    given = list(block.outputs.values())
    missing: list[exp.Expr] = []
    for one in wanted:
        if one not in given and one not in missing and not isinstance(one, exp.Literal):
            missing.append(one)
    if not missing:
        return None
    core = bare(block.select, ("order",))
    for number, one in enumerate(missing):
        core.append("expressions", exp.alias_(one.copy(), f"hidden_{number}", quoted=True))
    top = exp.select(*(_named(name) for name in block.names))
    return Peeled(Block(core, block.items, block.nested), lambda node, types: over(top, node, types))


def without_aggregate(block: Block) -> Peeled | None:
    """Peel an aggregate off partial results of smaller groups."""
    found = partial_aggregates(block)
    if found is None:
        return None
    return Peeled(
        Block(found.core, block.items, block.nested), lambda node, types: over(found.top(types), node, types)
    )


def without_groups_and_windows(block: Block) -> Peeled | None:
    """Peel an aggregate or windows off the rows of a join."""
    shape = Shape(block)
    joins = len(block.items) > 1 or block.nested or block.select.args.get("laterals")
    if shape.row_by_row or not joins or is_limited(block):
        return None
    top = bare(block.select, (*OF_CORE, "order"))
    if top.find(exp.Placeholder):
        return None
    columns: dict[exp.Column, str] = {}

    def replaced(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or not part.table:
            return part
        return of_core(columns.setdefault(part.copy(), f"column_{len(columns)}"))

    top = cast("exp.Select", top.transform(replaced))
    core = bare(block.select, ("order", *OF_TOP))
    # by the columns of joins, changes of the optional side of a join are found
    found: list[exp.Expr] = [*dict.fromkeys([*columns, *_joined_by(block)])]
    core.set(
        "expressions",
        [exp.alias_(one.copy(), f"column_{number}", quoted=True) for number, one in enumerate(found)],
    )
    if not found:
        core.set("expressions", [exp.alias_(exp.Literal.number(1), "column_0", quoted=True)])
    return Peeled(Block(core, block.items, block.nested), lambda node, types: over(top, node, types))


def _joined_by(block: Block) -> Iterator[exp.Expr]:
    """Yield the columns by which the sources of a block are joined, also with its subqueries."""
    unseen = {alias for alias, item in block.items.items() if item.side in ("semi", "anti")}
    for item in block.items.values():
        for condition in conjuncts(item.on):
            if item.side == "full" and isinstance(condition, exp.EQ):
                pair = (condition.left.copy(), condition.right.copy())
                yield exp.Coalesce(this=pair[0], expressions=[pair[1]])
            else:
                yield from (one for one in condition.find_all(exp.Column) if one.table not in unseen)

    for nested in block.nested.values():
        yield from (one for one in nested.outer.find_all(exp.Column)) if nested.outer else ()
        yield from _outer_columns(nested.node, block.items.keys() - unseen)


def _outer_columns(node: Node, aliases: Collection[str]) -> Iterator[exp.Expr]:
    """Yield the columns of sources outside of a subquery that it uses."""
    if isinstance(node, Block):
        outside = [alias for alias in aliases if alias not in node.items]
        yield from (one for one in node.select.find_all(exp.Column) if one.table in outside)
    for _, child in node.children() if not isinstance(node, Leaf) else ():
        yield from _outer_columns(child, aliases)


def is_limited(block: Block) -> bool:
    """Return whether a SELECT has LIMIT or OFFSET."""
    return any(block.select.args.get(part) for part in LIMITS)


def has_levels(block: Block) -> bool:
    """Return whether a SELECT has ROLLUP, CUBE or GROUPING SETS."""
    group = block.select.args.get("group")
    return bool(group and group.find(*LEVELS))


def bare(select: exp.Select, parts: tuple[str, ...]) -> exp.Select:
    """Return a SELECT without some of its parts."""
    bare = select.copy()
    for part in parts:
        bare.set(part, None)
    return bare


def _named(name: str) -> exp.Expr:
    return exp.alias_(of_core(name), name, quoted=True)


def _output_of(block: Block, expression: exp.Expr) -> str | None:
    """Return the column of the result that an expression of ORDER BY is."""
    if isinstance(expression, exp.Column) and not expression.table and expression.name in block.outputs:
        return expression.name
    return next((name for name, one in block.outputs.items() if one.unnest() == expression.unnest()), None)


def _without_aliases(block: Block, expression: exp.Expr) -> exp.Expr:
    """Put what they stand for in place of the result's columns."""

    def replaced(part: exp.Expr) -> exp.Expr:
        is_alias = isinstance(part, exp.Column) and not tables_of(part) - {""}
        return exp.paren(block.outputs[part.name].copy()) if is_alias and part.name in block.outputs else part

    return expression.copy().transform(replaced)
