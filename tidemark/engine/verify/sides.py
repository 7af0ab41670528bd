"""The rows in which a table and a query differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.incremental.column_types import NESTED, Narrowed, narrowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

COPIES = "__tidemark_copies"  # how many more copies of a row the rebuild has
FLOATING = ("float", "double")
Comparable = Callable[[str, str], str]


@dataclass(frozen=True)
class Columns:
    """The columns that a table and a query have both.

    Attributes:
        names: their names, as the table has them.
        types: their Spark types.
        reads: SQL that reads the query's columns with these types.
        only_table, only_query: further columns of one side, and fields of structs that only the query has.
        comparable: gives the SQL of a value that can be grouped, for a column and its type.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    reads: tuple[str, ...]
    only_table: tuple[str, ...]
    only_query: tuple[str, ...]
    comparable: Comparable

    @property
    def values(self) -> list[str]:
        """Names that need no quotes, for the columns in their order."""
        return [f"__tidemark_{number}" for number in range(len(self.names))]

    @property
    def keys(self) -> list[str]:
        """SQL of what can be grouped, for each column."""
        return [self.comparable(name, kind) for name, kind in zip(self.values, self.types, strict=True)]

    def keys_of(self, names: Sequence[str]) -> list[str]:
        """Return SQL of what can be grouped of some columns; if none of them is there, of all that are exact.

        Sums of floating-point numbers depend on the order of their rows, so they cannot tell where a row is.
        """
        wanted = {name.lower() for name in names}
        columns = [*zip(self.names, self.types, self.keys, strict=True)]
        exact = [key for _, kind, key in columns if not any(word in kind for word in FLOATING)]
        return [key for name, _, key in columns if name.lower() in wanted] or exact or self.keys

    @property
    def floating(self) -> list[int]:
        """The positions of floating-point columns."""
        return [number for number, kind in enumerate(self.types) if kind in FLOATING]

    @property
    def others(self) -> str:
        """What is not compared, in words; empty if the columns are the same."""
        messages = [
            f"{'column' if len(found) == 1 else 'columns'} {', '.join(found)} (only in the {side})"
            for found, side in ((self.only_query, "query"), (self.only_table, "table"))
            if found
        ]
        return " and ".join(messages)

    def of_table(self, rows: DataFrame) -> DataFrame:
        """Return the columns of the table in their order, named as `values`."""
        return self._named(rows, [quoted(name) for name in self.names])

    def of_query(self, rows: DataFrame) -> DataFrame:
        """Return the columns of the query in their order, named as `values`."""
        return self._named(rows, self.reads)

    def _named(self, rows: DataFrame, read: Sequence[str]) -> DataFrame:
        return rows.selectExpr(*(f"{one} as {new}" for one, new in zip(read, self.values, strict=True)))


def columns_of(table: DataFrame, query: DataFrame, ignored: Sequence[str], comparable: Comparable) -> Columns:
    """Return the columns of a table and its rebuild.

    Args:
        table, query: both sides.
        ignored: columns of the query that say what to do with a row, and are not stored.
        comparable: as in `Columns`.
    """
    present = {name.lower() for name in table.columns}
    computed = {one.name.lower(): one for one in query.schema.fields}
    both = [one for one in table.schema.fields if one.name.lower() in computed]
    types = [one.dataType.simpleString() for one in both]
    reads = [_read(computed[one.name.lower()], one.name, kind) for one, kind in zip(both, types, strict=True)]
    new = [name for name in query.columns if name.lower() not in {*present, *ignored}]
    return Columns(
        tuple(one.name for one in both),
        tuple(types),
        tuple(one.sql for one in reads),
        tuple(name for name in table.columns if name.lower() not in computed),
        (*new, *(path for one in reads for path in one.dropped)),
        comparable,
    )


def _read(column: StructField, name: str, kind: str) -> Narrowed:
    """Return SQL of a query's column with the table's type, whose structs may lack some fields."""
    found, given = quoted(column.name), column.dataType.simpleString()
    return (narrowed(found, kind, given, name) if NESTED.fullmatch(kind) else None) or Narrowed(found)


def differing_rows(table: DataFrame, query: DataFrame, columns: Columns, where: str = "true") -> DataFrame:
    """Return the rows that one side has more often than the other, as `values` and `COPIES`.

    Args:
        table, query: both sides.
        columns: their columns.
        where: a condition on `values`: other rows are not compared.
    """
    from pyspark.sql import functions as f

    rebuilt = columns.of_query(query).selectExpr("*", f"1L as {COPIES}")
    both = rebuilt.unionAll(columns.of_table(table).selectExpr("*", f"-1L as {COPIES}")).where(where)
    keys = [
        f.expr(key).alias(f"key_{value}") for key, value in zip(columns.keys, columns.values, strict=True)
    ]
    kept = [f.first(value).alias(value) for value in columns.values]
    if columns.keys == columns.values:
        keys, kept = [f.col(value) for value in columns.values], []
    grouped = both.groupBy(*keys).agg(*kept, f.sum(COPIES).alias(COPIES))
    return grouped.where(f"{COPIES} != 0").select(*columns.values, COPIES)
