"""Clustering: rows with close values of some columns lie in the same files, so that queries skip the others.

The columns of a table are declared as `meta.cluster_by` of its model or feed. Only files that came since the
last clustering count: without such files nothing is rewritten.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.base.errors import TidemarkError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNORDERED = (
    "array",
    "map",
    "struct",
    "variant",
    "binary",
    "boolean",
)  # no min/max statistics
MAX_COLUMNS = 4  # columns; each further one makes the others worse


@dataclass(frozen=True)
class NewFiles:
    """The files of a table that are not clustered by its columns.

    Attributes:
        number, bytes: how many, and how large they are together.
        partitions: the partitions that have such files, each with its values by column; None for all.
    """

    number: int = 0
    bytes: int = 0
    partitions: tuple[tuple[tuple[str, str | None], ...], ...] | None = None


class Clustering(ABC):
    """The clustering of one table.

    Args:
        spark: a session with a JVM.
        table: `schema.name`, a table that exists.
        columns: the declared columns, in any case of letters.

    Attributes:
        columns: the columns as the table names them.

    Raises:
        TidemarkError: if the table cannot be clustered by these columns.
    """

    def __init__(self, spark: SparkSession, table: str, columns: Sequence[str]) -> None:
        self._spark, self._table = spark, table
        self.partitioned_by = self._partition_columns()
        self.columns = self._checked(columns)

    @abstractmethod
    def _partition_columns(self) -> list[str]:
        """Return the columns whose values are the table's partitions."""

    @abstractmethod
    def new_files(self) -> NewFiles:
        """Return the files that are not clustered yet."""

    @abstractmethod
    def rewrite(self, new: NewFiles) -> tuple[int, int]:
        """Cluster the new files, with others that lie beside them; no row changes.

        Args:
            new: files that `new_files` returned, at least one.

        Returns:
            The number of files that were rewritten, and into how many.
        """

    def _checked(self, columns: Sequence[str]) -> list[str]:
        types = dict(self._spark.table(self._table).dtypes)
        named = {name.lower(): name for name in types}
        for column in columns:
            name = named.get(column.lower())
            if name is None:
                raise self._refused(
                    f"names `{column}`, which is not one of its columns",
                    f"{did_you_mean(column, types)}Correct it in the model or the feed.",
                )
            if types[name].startswith(UNORDERED):
                raise self._refused(
                    f"names `{name}`, which is of type {types[name].partition('<')[0]}",
                    "Name columns with numbers, dates, times or texts.",
                )
            if name in self.partitioned_by:
                raise self._refused(
                    f"names `{name}`, by which the table is partitioned already",
                    "Leave this column out.",
                )
        if len(columns) > MAX_COLUMNS:
            raise self._refused(f"names {len(columns)} columns", f"Name at most {MAX_COLUMNS}.")
        return [named[column.lower()] for column in columns]

    def _refused(self, problem: str, fix: str) -> TidemarkError:
        return TidemarkError(f"cluster_by of {self._table} {problem}.", fix)


def in_partitions(new: NewFiles, types: dict[str, str]) -> str:
    """Return a condition that holds for the rows of partitions; empty for all partitions.

    Args:
        new: files with their partitions.
        types: the types of the partition columns.
    """
    if not new.partitions:
        return ""
    return " or ".join(
        f"({' and '.join(_equal(name, value, types[name]) for name, value in partition)})"
        for partition in new.partitions
    )


def _equal(name: str, value: str | None, of: str) -> str:
    quoted = name.replace("`", "``")
    if value is None:
        return f"`{quoted}` is null"
    text = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"`{quoted}` = cast('{text}' as {of})"
