"""The key that a query proves by itself: columns of which no two rows of its result have the same values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from tidemark.engine.incremental.choosing import NESTED
from tidemark.engine.incremental.equalities import equalities
from tidemark.engine.incremental.shape import Shape, refuse_set_operation, refuse_unsupported
from tidemark.engine.incremental.tree import Block, Leaf, Node, SetOperation
from tidemark.engine.incremental.unsupported import Unsupported

JOINED, FILTERING = ("from", "inner", "cross", "left"), ("semi", "anti")  # sides of joins
GENERATORS = "generator_funcs"  # Spark's group of functions that give several rows for one
Keys = Mapping[str, Sequence[str]]


def proven_key(node: Node, known: Keys) -> tuple[str, ...] | None:
    """Return columns whose values occur once in a query's result; None if the query proves none.

    They are the columns of GROUP BY, all columns of SELECT DISTINCT and of UNION, and the key of a table of
    which each row gives at most one row: it is joined with others by their keys.

    Args:
        node: the query.
        known: the keys of the tables that it reads, by `schema.table` in lower case.
    """
    if isinstance(node, Leaf):
        key = known.get(node.table.lower())
        names = {name.lower(): name for name in node.names}
        return (
            tuple(names[one.lower()] for one in key) if key and {*map(str.lower, key)} <= {*names} else None
        )
    try:
        return _of_set(node) if isinstance(node, SetOperation) else _of_block(node, known)
    except Unsupported:
        return None


def merge_key(node: Node, types: Mapping[str, str], known: Keys) -> tuple[str, ...]:
    """Return the key that a query proves, if rows can be merged by it; else no column.

    Args:
        node: the query.
        types: the types of its columns by name.
        known: as in `proven_key`.
    """
    proven = {name.lower() for name in proven_key(node, known) or ()}
    key = {name: kind for name, kind in types.items() if name.lower() in proven}
    return () if any(kind.lower().startswith(NESTED) for kind in key.values()) else tuple(key)


def _of_set(node: SetOperation) -> tuple[str, ...] | None:
    refuse_set_operation(node)
    return tuple(node.names) if node.operation.args.get("distinct") else None


def _of_block(block: Block, known: Keys) -> tuple[str, ...] | None:
    refuse_unsupported(block)
    if block.select.args.get("distinct"):
        return tuple(block.names)
    if any(map(_gives_several_rows, block.outputs.values())):
        return None
    groups = Shape(block).groups
    if groups == []:  # one row, of which the constants tell the place in a union
        return tuple(name for name, one in block.outputs.items() if isinstance(one, exp.Literal)) or None
    return _of_source(block, known) if groups is None else _named(block, groups)


def _of_source(block: Block, known: Keys) -> tuple[str, ...] | None:
    """Return the key of a source whose rows a block gives once each, under the names of its columns."""
    joined = {item.alias for item in block.items.values() if item.side in JOINED}
    if len(joined) + sum(item.side in FILTERING for item in block.items.values()) < len(block.items):
        return None
    keys = {name: proven_key(one.node, known) for name, one in block.items.items() if name in joined}
    for alias, key in keys.items():
        if not key or block.items[alias].side == "left" or _found_from(alias, block, keys) != joined:
            continue
        if named := _named(block, [exp.column(name, table=alias) for name in key]):
            return named
    return None


def _found_from(first: str, block: Block, keys: Mapping[str, tuple[str, ...] | None]) -> set[str]:
    """Return the sources of which each row of the first one finds at most one row, by their keys."""
    found = {first}
    if len(keys) == 1:
        return found
    equal = [one for one in equalities(block) if one.same_type and isinstance(one.left, exp.Column)]
    while True:
        more = {
            alias
            for alias, key in keys.items()
            if key
            and {name.lower() for name in key}
            <= {
                one.left.name.lower()
                for one in equal
                if one.sources[0] == alias and one.sources[1] in found and one.owner in ("", alias)
            }
        }
        if more <= found:
            return found
        found |= more


def _named(block: Block, wanted: Sequence[exp.Expr]) -> tuple[str, ...] | None:
    """Return the names under which a block gives expressions; None if it leaves one out."""
    named = {_text(expression): name for name, expression in block.outputs.items()}
    texts = [_text(expression) for expression in wanted if not isinstance(expression, exp.Literal)]
    return tuple(named[text] for text in texts) if texts and {*texts} <= {*named} else None


def _gives_several_rows(expression: exp.Expr) -> bool:
    generators = (exp.Explode, exp.Posexplode, exp.Inline)
    named = (one.meta.get("group") for one in expression.find_all(exp.Anonymous))
    return expression.find(*generators) is not None or GENERATORS in named


def _text(expression: exp.Expr) -> str:
    return str(expression.sql("spark", identify=True)).lower()
