"""Plan with Spark at hand: it describes tables and functions, and checks what sqlglot understood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import sqlglot
from pyspark.errors import PySparkException
from sqlglot import TokenType, exp

from tidemark.base.messages import plain_message
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.difference import unlike
from tidemark.engine.incremental.literals import UNITS
from tidemark.engine.incremental.parse import Catalog, Parsed, parse, tree_of
from tidemark.engine.incremental.plan import Plan, full
from tidemark.engine.incremental.proven_key import Keys, merge_key
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.shape import Shape
from tidemark.engine.incremental.spelling import plain
from tidemark.engine.incremental.splitting import staged
from tidemark.engine.incremental.stages import Staged, StagesWanted
from tidemark.engine.incremental.tree import Block, Leaf, Node, render
from tidemark.engine.incremental.unsupported import Unsupported


@dataclass(frozen=True)
class Analysed:
    """What Spark understands of a query.

    Attributes:
        text: the same for two queries only if both mean the same.
        types: the types of its columns, without their names.
        aggregate, window: the number of such operators, with CTEs where they are read.
    """

    text: str
    types: tuple[str, ...]
    aggregate: int
    window: int


class Spark(Catalog, Protocol):
    """What planning must know of Spark.

    Attributes:
        never_null: columns of the described tables that are declared NOT NULL, as `schema.table.column`.
    """

    never_null: set[str]

    def analysed(self, sql: str) -> Analysed:
        """Return what Spark understands of a query."""


def plan_of(spark: Spark, sql: str, request: Request) -> Plan:
    """Plan how a model's table is brought up to date.

    Args:
        spark: describes tables, functions and queries.
        sql: the model's query.
        request: its key, its types and the tables that changed.

    Returns:
        A plan; its way is `full`, with the reason, where the query cannot be handled incrementally.
    """
    return plans_of(spark, sql, request, [request.changed])[0]


def plans_of(spark: Spark, sql: str, request: Request, changes: Sequence[frozenset[str]]) -> list[Plan]:
    """Plan how a model's table is brought up to date after each of several changes.

    Args:
        spark: describes tables, functions and queries.
        sql: the model's query.
        request: its key and its types.
        changes: the tables that changed, in place of those of the request.
    """
    if request.why_full:
        return [full(request, request.why_full) for _ in changes]
    try:
        tree, request = _understood(spark, sql, request)
        return [choose_plan(tree, replace(request, changed=changed)) for changed in changes]
    except Unsupported as found:
        why = found.where
    except Exception as error:  # at worst the run is slow
        is_of_spark = isinstance(error, PySparkException)
        what = "Spark does not take it in another spelling" if is_of_spark else "an error in its analysis"
        why = f"{what}: {plain_message(str(error)).partition(chr(10))[0]}"
    return [full(request, why) for _ in changes]


def staged_of(
    root: Node | None,
    request: Request,
    name: Callable[[int], str],
    types_of: Callable[[str], Mapping[str, str]],
    wanted: StagesWanted,
) -> Staged | None:
    """Return a query in stages.

    Args:
        root: the query, as the plan of one step has it; None if it cannot be handled incrementally.
        request: what that plan is made from.
        name: the table of the stage of a number from 1 on.
        types_of: the types of a query's columns (SQL), in Spark's words.
        wanted: the kinds of stages.

    Returns:
        None if one step is the way.
    """

    def types(node: Node) -> Mapping[str, str]:
        return types_of(render(node, _table).sql("spark"))

    if root is None or not wanted:
        return None
    with suppress(Exception):  # at worst the run is slow
        return staged(root, request, name, types, wanted)
    return None


def _understood(spark: Spark, sql: str, request: Request) -> tuple[Node, Request]:
    """Return a query's tree, and the request with the key that the query proves.

    Raises:
        Unsupported: if it cannot be parsed, or Spark reads it in another way.
    """
    parsed = parse(sql, spark)
    checked(spark, parsed)
    request = replace(request, never_null=request.never_null | spark.never_null)
    if not request.key and not request.partition:
        request = replace(request, key=merge_key(parsed.tree, request.types, request.known_keys))
    return parsed.tree, request


def key_of(spark: Spark, sql: str, types: Mapping[str, str], known: Keys) -> list[str]:
    """Return the columns of which a query itself proves that no two rows have the same values.

    Args:
        spark: describes tables, functions and queries.
        sql: the query.
        types: the types of its columns, by name.
        known: the keys of the tables that it reads, by `schema.table`.

    Returns:
        The columns; none if the query proves no key, or one of a type that rows are not merged by.
    """
    with suppress(Exception):  # at worst the table is written as a whole
        parsed = parse(sql, spark)
        checked(spark, parsed)
        return list(merge_key(parsed.tree, types, known))
    return []


def checked(spark: Spark, parsed: Parsed) -> None:
    """Refuse a query that Spark reads in another way than sqlglot.

    Raises:
        Unsupported: for such a query.
    """
    for given, as_read in parsed.readings:
        text = plain(given)
        if not _is_read_as(spark, text, spark.analysed(text), as_read.copy()):
            raise Unsupported("a lateral subquery that Tidemark does not read as Spark does")
    for given, tree in parsed.parts:
        text = plain(given)
        plan = spark.analysed(text)
        if not _is_same(spark, text, plan, tree):
            raise unlike(text, lambda other: _is_read_alike(spark, other))
        if text != given and spark.analysed(given).types != plan.types:
            raise Unsupported("SQL whose types depend on its spelling")
        for operator, found, part in (
            ("aggregate", plan.aggregate, "groups"),
            ("window", plan.window, "partitions"),
        ):
            blocks = _count(tree, part)
            if found != blocks and (operator == "aggregate" or not (found and blocks)):
                raise Unsupported(f"{found} {operator} operators, where the query shows {blocks}")


def _is_same(spark: Spark, sql: str, plan: Analysed, tree: Node) -> bool:
    """Return whether a tree means to Spark what a query does."""
    return _is_read_as(spark, sql, plan, render(tree, _table))


def _is_read_as(spark: Spark, sql: str, plan: Analysed, query: exp.Query) -> bool:
    written = _without_aliases(query).sql("spark")
    return spark.analysed(written).text == plan.text and not _texts(sql) - _texts(written)


def _is_read_alike(spark: Spark, sql: str) -> bool:
    tree = tree_of(sql, spark)
    return _is_same(spark, sql, spark.analysed(sql), tree)


def _without_aliases(query: exp.Query) -> exp.Query:
    """Leave out aliases that repeat a column's name, as in what Spark makes of `*`."""
    for alias in list(query.find_all(exp.Alias)):
        bare = alias.this.unnest()
        if isinstance(bare, exp.Column) and bare.name == alias.alias:
            alias.replace(alias.this)
    return query


def _texts(sql: str) -> set[str]:
    """Return the string literals of a query that are not units of time."""
    tokens = sqlglot.tokenize(sql, dialect="spark")
    return {
        token.text
        for token in tokens
        if token.token_type == TokenType.STRING and token.text.lower() not in UNITS
    }


def _table(leaf: Leaf) -> exp.Query:
    return exp.select(*(exp.column(name, quoted=True) for name in leaf.names)).from_(
        exp.to_table(leaf.table, dialect="spark")
    )


def _count(node: Node, part: str) -> int:
    if isinstance(node, Leaf):
        return 0
    below = sum(_count(child, part) for _, child in node.children())
    if not isinstance(node, Block):
        return below
    shape = Shape(node)
    return below + int(shape.groups is not None if part == "groups" else bool(shape.partitions))
