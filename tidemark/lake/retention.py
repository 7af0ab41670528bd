"""How long a table keeps old versions when something else than `tidemark maintain` deletes them.

`tidemark maintain` keeps what a model has not read. A VACUUM or `expire_snapshots` by hand and Delta's own
clean-up of its log do not know the models; they keep what these properties of a table say.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.lake.table_format import ICEBERG, loaded_iceberg, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = 35  # a model that runs once a month finds what it has not read
LOG_DAYS = 90  # Delta deletes older entries of a log by itself, at some commits
KEPT_SNAPSHOTS = 5  # at least: landing recognizes a batch that it has appended by its snapshot
RETENTION = {
    "delta": {
        "delta.deletedFileRetentionDuration": f"interval {DAYS} days",
        "delta.logRetentionDuration": f"interval {LOG_DAYS} days",
    },
    "iceberg": {
        "history.expire.max-snapshot-age-ms": f"{DAYS * 24 * 3_600_000}",
        "history.expire.min-snapshots-to-keep": f"{KEPT_SNAPSHOTS}",
        "write.metadata.delete-after-commit.enabled": "true",
    },
}


@dataclass(frozen=True)
class Kept:
    """How long `tidemark maintain` keeps what is old.

    Attributes:
        hours: versions of tables.
        log_hours: entries of logs; never shorter than versions.
    """

    hours: int = 7 * 24
    log_hours: int = 30 * 24

    def __post_init__(self) -> None:
        if self.log_hours < self.hours:
            object.__setattr__(self, "log_hours", self.hours)


def retention(form: str, given: Collection[str] = ()) -> dict[str, str]:
    """Return the properties that a table lacks; none if it has one of them, since they depend on each other.

    Args:
        form: the table format.
        given: names of the properties that the table has.
    """
    properties = RETENTION[form]
    return {} if set(given) & set(properties) else dict(properties)


def lacking(spark: SparkSession, table: str) -> dict[str, str]:
    """Return the properties that an existing table lacks: one of an earlier Tidemark version, for example."""
    form = table_format(spark)
    if form == ICEBERG:
        return retention(form, loaded_iceberg(spark, table).properties().keySet())
    rows = spark.sql(f"show tblproperties {table}").select("key").collect()
    return retention(form, [row["key"] for row in rows])


def set_properties(spark: SparkSession, table: str, properties: dict[str, str]) -> None:
    """Set properties of a table in one commit, which changes no row."""
    assignments = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    spark.sql(f"alter table {table} set tblproperties ({assignments})")
