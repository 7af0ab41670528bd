"""`x not in (select y …)` in parts that can be maintained, with what it means where y or x is NULL."""

from __future__ import annotations

from sqlglot import exp

from tidemark.engine.incremental.tree import Block, Item, Nested, Node, placeholder


def without_not_in(block: Block) -> Block:
    """Write each NOT IN that is a condition of a block in another way, which gives the same rows.

    It is true if there is no y at all, or if x is not NULL, no y is, and none is equal to x. The first and
    the third follow from two counts, which most changes leave as they are.
    """
    found = Block(block.select.copy(), dict(block.items), dict(block.nested))
    for nested in [one for one in block.nested.values() if one.kind == "not in"]:
        holder = next((one for one in found.where if _is_not_in(one, nested.alias)), None)
        if holder is not None and nested.outer is not None and len(nested.node.names) == 1:
            holder.replace(_in_parts(found, nested, nested.outer))
    return found


def _in_parts(block: Block, nested: Nested, outer: exp.Expr) -> exp.Expr:
    """Give a block the subqueries that replace one; return the condition."""
    alias, query = nested.alias, nested.node
    del block.nested[alias]
    value = exp.column(query.names[0], table=alias, quoted=True)
    counts = _from(
        exp.select(
            _named(exp.Count(this=exp.Star()), "rows"), _named(exp.Count(this=value.copy()), "values")
        ),
        alias,
        query,
    )
    rows, values = (exp.column(name, table=alias, quoted=True) for name in ("rows", "values"))
    is_empty = exp.EQ(this=rows, expression=exp.Literal.number(0))
    has_null = exp.GT(this=rows.copy(), expression=values)
    equal = exp.EQ(this=value, expression=outer.copy())
    parts = {
        "is_empty": (_from(exp.select(_named(is_empty, "is_empty")), alias, counts), "scalar"),
        "has_null": (_from(exp.select(_named(has_null, "has_null")), alias, counts), "scalar"),
        "equal": (
            _from(exp.select(_named(exp.Literal.number(1), "one")).where(equal), alias, query),
            "exists",
        ),
    }
    holders = {}
    for name, (node, kind) in parts.items():
        holders[name] = exp.Placeholder(this=f"{alias}_{name}")
        block.nested[f"{alias}_{name}"] = Nested(f"{alias}_{name}", node, kind)
    is_known = exp.Not(this=exp.Is(this=exp.paren(outer.copy()), expression=exp.Null()))
    no_null = exp.Not(this=exp.paren(holders["has_null"]))
    none_equal = exp.Not(this=exp.Exists(this=holders["equal"]))
    others = exp.and_(is_known, no_null, none_equal)
    return exp.paren(exp.or_(exp.paren(holders["is_empty"]), exp.paren(others)))


def _is_not_in(condition: exp.Expr, alias: str) -> bool:
    return (
        isinstance(condition, exp.Not)
        and isinstance(condition.this, exp.In)
        and any(one.this == alias for one in condition.find_all(exp.Placeholder))
    )


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression, name, quoted=True)


def _from(select: exp.Select, alias: str, node: Node) -> Block:
    """Return a SELECT from a query."""
    select.set("from_", exp.From(this=placeholder(alias)))
    return Block(select, {alias: Item(alias, node, "from")})
