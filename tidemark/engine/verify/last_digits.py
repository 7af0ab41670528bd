"""Tell rows that differ only by rounding, in the last digits of floating-point sums, from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tidemark.engine.incremental.rounding import shifted
from tidemark.engine.verify.sides import COPIES, Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = "__tidemark_rows"
TAG = "__tidemark_tag"
TABLE, REBUILD, UNMOVED = "table", "rebuild", "unmoved"
UP, DOWN = "up", "down"
TAGS = {0: UNMOVED, 1: UP, -1: DOWN}


@dataclass(frozen=True)
class Rounded:
    """The rows that differ, without those that differ only by rounding.

    Attributes:
        rows: the number of rows of the table that differ only by rounding.
        columns: the columns in which they differ.
        differing: the other rows that differ, as `differing_rows` returns them.
    """

    rows: int
    columns: tuple[str, ...]
    differing: DataFrame


def without_rounding(
    differing: DataFrame,
    columns: Columns,
    sql: str,
    read: Callable[[str], DataFrame],
    view: Callable[[str], str | None],
) -> Rounded | None:
    """Return the rows that differ by more than rounding explains; None if the query adds no such numbers.

    A row of the table and one of the rebuild are a pair if all their other columns are equal and no other row
    has these. The rebuild is computed again with its sums moved as far as rounding can move them
    (rounding.py): values are equal but for rounding if they are no further apart than this moves them.
    NaN and infinite values are equal only to themselves.

    Args:
        differing: the rows that differ, from `differing_rows`.
        columns: the columns of both sides.
        sql: the rebuild's query.
        read: computes a query, as both sides are read.
        view: gives the query of a view by its name; None for a table.
    """
    from pyspark.sql.functions import expr

    queries = shifted(sql, view) if columns.floating else []
    if not queries:
        return None
    names = [columns.values[number] for number in columns.floating]
    tags, pairs = _pairs(
        differing, columns, ((_tag(number, sign), read(query)) for number, sign, query in queries)
    )
    classified = pairs.withColumn("is_rounded", expr(_is_close(names, tags))).persist()
    moved = (f"max(is_rounded and not {_value(TABLE, one)} <=> {_value(REBUILD, one)})" for one in names)
    totals = classified.selectExpr("count_if(is_rounded)", *moved).first()
    assert totals is not None  # noqa: S101
    others = classified.where("not is_rounded").selectExpr(f"inline({ROWS})")
    found = zip(columns.floating, totals[1:], strict=True)
    return Rounded(totals[0], tuple(columns.names[number] for number, is_moved in found if is_moved), others)


def _tag(number: int, sign: int) -> str:
    return f"{TAGS[sign]} {number}" if sign else UNMOVED


def _value(tag: str, name: str) -> str:
    return f"`{tag} {name}`"


def _pairs(
    differing: DataFrame, columns: Columns, moved: Iterable[tuple[str, DataFrame]]
) -> tuple[list[str], DataFrame]:
    """Return the tags of all sides, and the groups of equal exact columns in which rows differ.

    A group has its differing rows, whether it is one row on each side, and the floating values of each side.
    """
    from pyspark.sql import functions as f

    values = columns.values
    side = f"if({COPIES} > 0, '{REBUILD}', '{TABLE}') as {TAG}"
    parts, tags = [differing.selectExpr(*values, COPIES, side)], [TABLE, REBUILD]
    casts = [f"cast({one} as {kind}) as {one}" for one, kind in zip(values, columns.types, strict=True)]
    for tag, rows in moved:
        parts.append(columns.of_query(rows).selectExpr(*casts, f"0L as {COPIES}", f"'{tag}' as {TAG}"))
        tags.append(tag)
    exact = [f.expr(key) for number, key in enumerate(columns.keys) if number not in columns.floating]
    names = [values[number] for number in columns.floating]
    sides = [
        f.expr(f"max(if({TAG} = '{tag}', {name}, null))").alias(f"{tag} {name}")
        for tag in tags
        for name in names
    ]
    once = " and ".join([f"max(abs({COPIES})) = 1", *(f"count_if({TAG} = '{tag}') = 1" for tag in tags)])
    row = f"struct({', '.join([*values, COPIES])})"
    rows_of = f.expr(f"collect_list(if({COPIES} != 0, {row}, null))").alias(ROWS)
    grouped = reduce(lambda one, other: one.unionAll(other), parts).groupBy(*exact)
    return tags, grouped.agg(rows_of, f.expr(once).alias("is_pair"), *sides).where(f"size({ROWS}) > 0")


def _is_close(names: Iterable[str], tags: Iterable[str]) -> str:
    """Return the SQL of whether a pair differs only by rounding."""
    numbers = [tag.removeprefix(UP) for tag in tags if tag.startswith(UP)]
    parts = ["is_pair"]
    for name in names:
        table, rebuild, unmoved = (_value(tag, name) for tag in (TABLE, REBUILD, UNMOVED))
        moves = []
        for number in numbers:
            both = (f"abs({_value(way + number, name)} - {unmoved})" for way in (UP, DOWN))
            moves.append(f"greatest({', '.join(both)})")
        bound = f"({' + '.join(moves)})"
        near = (f"abs({one} - {rebuild}) <= {bound}" for one in (table, unmoved))
        finite = f"{bound} < double('infinity')"  # NaN is not
        parts.append(f"({table} <=> {rebuild} or ({finite} and {' and '.join(near)}))")
    return f"coalesce({' and '.join(parts)}, false)"
