"""The rows by which a table differs between two of its versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import plain_message
from tidemark.engine.checkpoints.rows import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_ROWS_SHOWN = 20
ROUNDING = 1e-9
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
SIGNS = {ADDED: "+", REMOVED: "-", CHANGED: "~"}
INCOMPARABLE = ("map<", "variant")  # types that Spark does not compare


@dataclass(frozen=True)
class Difference:
    """A key whose row differs.

    Attributes:
        kind: `added`, `removed` or `changed`.
        number: how many rows; more than 1 only in a table without a key.
        key: its columns, or all columns if the table has no key.
        values: the other columns, each with the values on both sides; of a changed row, those that differ.
    """

    kind: str
    number: int
    key: dict[str, Any]
    values: dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Differences:
    """How a table differs between two versions.

    Attributes:
        counts: number of rows `added`, `removed` and `changed`.
        shown: the first of them by their keys.
        columns_added, columns_removed: columns that one version alone has; they are not compared.
        columns_changed: number of changed rows by the columns in which they differ.
    """

    counts: dict[str, int]
    shown: list[Difference] = field(default_factory=list)
    columns_added: list[str] = field(default_factory=list)
    columns_removed: list[str] = field(default_factory=list)
    columns_changed: dict[str, int] = field(default_factory=dict)


def version_after(runs: Sequence[Run], run: Run, table: str) -> int:
    """Return the version of a table when a run ended.

    Args:
        runs: all recorded runs, the oldest first, undos included.
        run: one of them.
        table: `schema.name`.

    Raises:
        TidemarkError: if no run up to then wrote it.
    """
    found: list[int] = []
    by_id = {each.id: each for each in runs}
    for each in runs:
        undone = [by_id[name] for name in each.undone if name in by_id]
        if any(written.table == table and written.before is None for it in undone for written in it.written):
            found.clear()  # it was dropped: versions of before are those of another table
        if each.ended <= run.ended:
            found += [written.after for written in each.written if written.table == table]
    if not found:
        raise TidemarkError(
            f"No recorded run up to {run.label} wrote {table}.",
            "Choose a later run: `ops.runs` has all of them.",
        )
    return found[-1]


def differences(
    spark: SparkSession, table: str, keys: Sequence[str], first: int, last: int | None
) -> Differences:
    """Compare a table with itself at another version.

    Args:
        spark: the session.
        table: `schema.name`.
        keys: the columns that identify a row; if there are none, all columns do.
        first: the version to compare with.
        last: the other version; None for the present table.

    Raises:
        TidemarkError: if the table no longer has one of the versions.
    """
    try:
        return differing(_at(spark, table, first), _at(spark, table, last), keys)
    except PySparkException as error:
        why = plain_message(str(error)).splitlines()[0]
        raise TidemarkError(
            f"{table} cannot be compared with its version {first}: {why}",
            "If this version was expired (`tidemark maintain`), choose a later run.",
        ) from None


def differing(
    before: DataFrame,
    after: DataFrame,
    keys: Sequence[str],
    kinds: Sequence[str] = (ADDED, REMOVED, CHANGED),
    *,
    rounded: bool = False,
) -> Differences:
    """Compare rows.

    Args:
        before: the rows.
        after: the other ones.
        keys: the columns that identify a row; if there are none, all columns do.
        kinds: the differences that are looked for.
        rounded: whether floating-point numbers beside a key are equal if they differ by less than ROUNDING of
            their size, as sums of the same numbers in another order do.
    """
    common = [name for name in after.columns if name in before.columns]
    by = [name for name in keys if name in common]
    values = [name for name in common if name not in by]
    floating = [name for name, kind in after.dtypes if rounded and kind in ("float", "double")]
    rows = _by_key(before, after, by, values, floating) if by else _by_row(before, after, values)
    found = rows.where(f.col("kind").isin(*kinds)).persist()
    try:
        counted = {row["kind"]: row.asDict() for row in _counts(found, values if by else ()).collect()}
        first = found.orderBy("key", "kind", "old", "new").limit(MAX_ROWS_SHOWN).collect()
    finally:
        found.unpersist()
    changed = counted.get(CHANGED, {})
    return Differences(
        {kind: counted[kind]["rows"] if kind in counted else 0 for kind in (ADDED, REMOVED, CHANGED)},
        [_difference(row.asDict(recursive=True), by, values) for row in first],
        [name for name in after.columns if name not in common],
        [name for name in before.columns if name not in common],
        {name: changed[f"c{n}"] for n, name in enumerate(values) if by and changed.get(f"c{n}")},
    )


def _at(spark: SparkSession, table: str, version: int | None) -> DataFrame:
    if version is None:
        return spark.table(table)
    return spark.sql(f"select * from {table} version as of {version}")


def _by_key(
    before: DataFrame, after: DataFrame, by: Sequence[str], values: Sequence[str], floating: Collection[str]
) -> DataFrame:
    """Return the keys that differ, with `kind`, `number`, and the structs `key`, `old` and `new`."""
    old = before.select(_packed(before, by).alias("old_key"), _packed(before, values).alias("old"))
    new = after.select(_packed(after, by).alias("new_key"), _packed(after, values).alias("new"))
    joined = old.join(new, on=f.col("old_key").eqNullSafe(f.col("new_key")), how="full")
    equal = [_same(f.col(f"old.c{n}"), f.col(f"new.c{n}"), name in floating) for n, name in enumerate(values)]
    is_equal = reduce(Column.__and__, equal, f.lit(True))
    kind = (
        f.when(f.col("old_key").isNull(), ADDED)
        .when(f.col("new_key").isNull(), REMOVED)
        .when(~is_equal, CHANGED)
    )
    key = f.coalesce("new_key", "old_key").alias("key")
    found = joined.select(kind.alias("kind"), f.lit(1).alias("number"), key, "old", "new")
    return found.where("kind is not null")


def _by_row(before: DataFrame, after: DataFrame, values: Sequence[str]) -> DataFrame:
    """Return the rows that differ in their number, in the same columns; `old` and `new` are NULL."""
    sides = [
        rows.select(_packed(rows, values).alias("key"), f.lit(sign).alias("sign"))
        for rows, sign in ((before, -1), (after, 1))
    ]
    net = sides[0].unionAll(sides[1]).groupBy("key").agg(f.sum("sign").alias("net")).where("net != 0")
    kind = f.when(f.col("net") > 0, ADDED).otherwise(REMOVED).alias("kind")
    nothing = [f.lit(None).cast("string").alias(name) for name in ("old", "new")]
    return net.select(kind, f.abs("net").alias("number"), "key", *nothing)


def _same(old: Column, new: Column, is_rounded: bool) -> Column:
    """Return whether two values are equal; NULL equals NULL."""
    same = old.eqNullSafe(new)
    if not is_rounded:
        return same
    is_near = f.abs(old - new) <= f.greatest(f.abs(old), f.abs(new)) * ROUNDING
    return same | f.coalesce(is_near, f.lit(False))


def _packed(rows: DataFrame, names: Sequence[str]) -> Column:
    """Return columns as one struct with the fields `c0`, `c1` and so on."""
    types = dict(rows.dtypes)
    columns = []
    for number, name in enumerate(names):
        column = f.col("`" + name.replace("`", "``") + "`")
        if any(kind in types[name] for kind in INCOMPARABLE):
            column = f.to_json(column)
        columns.append(column.alias(f"c{number}"))
    return f.struct(*columns or [f.lit(None).cast("string").alias("c0")])


def _counts(found: DataFrame, values: Sequence[str]) -> DataFrame:
    """Count the rows of each kind, and for each value those in which it differs."""
    columns = [
        f.sum((~f.col(f"old.c{n}").eqNullSafe(f.col(f"new.c{n}"))).cast("int")).alias(f"c{n}")
        for n in range(len(values))
    ]
    return found.groupBy("kind").agg(f.sum("number").alias("rows"), *columns)


def _difference(row: dict[str, Any], by: Sequence[str], values: Sequence[str]) -> Difference:
    named = by or values
    key = {name: row["key"][f"c{n}"] for n, name in enumerate(named)}
    pairs = {
        name: tuple(row[side][f"c{n}"] if row[side] else None for side in ("old", "new"))
        for n, name in enumerate(values if by else ())
    }
    is_changed = row["kind"] == CHANGED
    differing = {name: pair for name, pair in pairs.items() if not is_changed or pair[0] != pair[1]}
    return Difference(row["kind"], row["number"], key, differing)
