"""Columns whose types macros can ask about; dbt-spark's know the names of PostgreSQL's types only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from dbt.adapters.base.column import Column
from dbt.adapters.spark.column import SparkColumn

STRINGS = ("string", "varchar", "char")
INTEGERS = ("tinyint", "smallint", "int", "bigint", "byte", "short", "integer", "long")
FLOATS = ("float", "double", "real")
DECIMALS = ("decimal", "dec", "numeric")


@dataclass(repr=False)
class LakeColumn(SparkColumn):
    """A column of a table of Spark."""

    @property
    def kind(self) -> str:
        """The type without its size: `decimal` for `decimal(10,2)`."""
        return str(self.dtype).split("(", maxsplit=1)[0].strip().lower()

    def is_string(self) -> bool:
        return self.kind in STRINGS

    def is_integer(self) -> bool:
        return self.kind in INTEGERS

    def is_float(self) -> bool:
        return self.kind in FLOATS

    def is_numeric(self) -> bool:
        return self.kind in DECIMALS

    def can_expand_to(self, other_column: Column) -> bool:
        """Return False: strings of a table of Spark have no size, so dbt's snapshots never widen them."""
        return False


def lake_columns(columns: Sequence[SparkColumn]) -> list[LakeColumn]:
    """Return dbt-spark's columns as columns that know Spark's types."""
    names = [each.name for each in fields(SparkColumn)]
    return [LakeColumn(**{name: getattr(each, name) for name in names}) for each in columns]


def described(
    rows: Iterable[tuple[str, str, str | None]],
) -> tuple[str | None, dict[str, tuple[str, str | None]]]:
    """Return the comment of a table, and type and comment of each column by name in lower case.

    Args:
        rows: of `describe extended`: the columns, an empty name, partitions, and properties of the table.
    """
    found: dict[str, tuple[str, str | None]] = {}
    is_column = True
    for name, value, comment in rows:
        is_column = is_column and bool(name) and not name.startswith("#")
        if is_column:
            found[name.lower()] = (value, comment or None)
        elif name == "Comment":
            return value or None, found
    return None, found
