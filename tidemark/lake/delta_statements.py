"""Delta's log by statements of SQL, for a session without a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from tidemark.base.clock import utc_time
from tidemark.lake.delta_log import DeltaLog, has_jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def log_of(spark: SparkSession, table: str) -> DeltaLog:
    """Return the log of a Delta table.

    Args:
        spark: the session.
        table: `schema.name`.
    """
    return DeltaLog(spark, table) if has_jvm(spark) else DeltaStatements(spark, table)


class DeltaStatements(DeltaLog):
    """The log of one Delta table, as of the first access; each question is a statement.

    Args:
        spark: a session.
        table: `schema.name`.
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark, self._table = spark, table

    @cached_property
    def version(self) -> int:
        """The newest version."""
        return int(self._history(1)[0]["version"])

    @property
    def identity(self) -> str:
        """The id of the table; another table with the same name has another id."""
        return str(self._detail["id"])

    def state(self) -> dict[str, Any]:
        """Return id, version, properties, and number and bytes of the files, as of the newest version."""
        detail = self._detail
        return {
            "id": detail["id"],
            "version": self.version,
            "properties": detail["properties"],
            "files": detail["numFiles"],
            "bytes": detail["sizeInBytes"],
        }

    def commits(self, number: int) -> list[dict[str, Any]]:
        """Return the newest commits, newest first, as rows of `describe history`."""
        return self._history(number) if number > 0 else []

    def _history(self, number: int) -> list[dict[str, Any]]:
        history = self._spark.sql(f"describe history {self._table} limit {number}")
        rows = history.selectExpr(
            "*", "unix_micros(timestamp) as at"
        ).collect()  # whatever the zone of Python
        return [{**row.asDict(), "timestamp": utc_time(row["at"]).replace(tzinfo=None)} for row in rows]

    @cached_property
    def _detail(self) -> Any:
        return self._spark.sql(f"describe detail {self._table}").first()

    @property
    def _schema(self) -> StructType:
        return self._spark.table(self._table).schema

    def _commit(self, version: int) -> dict[str, Any] | None:
        return {} if self._text(version) is not None else None

    def _text(self, version: int) -> str | None:
        path = f"{self._detail['location']}/_delta_log/{version:020}.json"
        try:
            rows = self._spark.read.text(path).collect()
        except AnalysisException:  # the file is gone
            return None
        return "\n".join(row["value"] for row in rows)

    def _lines(self, version: int) -> Iterator[str]:
        yield from (self._text(version) or "").split("\n")
