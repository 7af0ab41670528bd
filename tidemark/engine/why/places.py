"""Where a landed row came from: the number of its record in its file, and what was rejected beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as f

from tidemark.engine.project.nodes import sources_below, stored, table_of
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORD = "__tidemark_record"
OF_FILE = ("_batch_id", "_source_file")
CONTENT = ("_source_file", "_source_modified_at")  # a record that is replayed names the file that it was in
RETRACTS = {"_is_deleted", "_first_batch_id"}
ROW, REASON, MAX_REASONS = "_row_number", "rejection_reason", 10


def with_records(spark: SparkSession, table: str, rows: DataFrame) -> DataFrame:
    """Add the number of each row's record in its file, from 1 on, as RECORD.

    `_row_number` grows with the place in the file, but not by one; so the rows of these files are counted. It
    is NULL for a row that did not land with its file: a record that was replayed, a row that landed again or
    was retracted because another file is gone, a row of a table or a topic.

    Args:
        spark: the session.
        table: the bronze table, as `schema.name`.
        rows: some of its rows.
    """
    landed = spark.table(table)
    if not set(CONTENT) <= set(landed.columns):
        return rows.withColumn(RECORD, f.lit(None).cast("int"))
    if set(landed.columns) >= RETRACTS:
        landed = landed.where("not coalesce(_is_deleted, false) and _first_batch_id is null")
    contents = rows.where("_source_modified_at is not null").select(*CONTENT).distinct()
    place = Window.partitionBy(*CONTENT).orderBy("_batch_id", ROW)
    with_file = f.col("_batch_id") == f.min("_batch_id").over(Window.partitionBy(*CONTENT))
    numbered = landed.join(contents, list(CONTENT), "left_semi").select(
        *OF_FILE, ROW, f.when(with_file, f.row_number().over(place)).alias(RECORD)
    )
    return rows.join(numbered, [*OF_FILE, ROW], "left").select(*rows.columns, RECORD)


def rejected_beside(spark: SparkSession, manifest: Any, table: str, rows: DataFrame) -> Iterator[str]:
    """Yield what models say of the other records of the files that rows came from: rejected, and why.

    Args:
        spark: the session.
        manifest: dbt's manifest.
        table: the bronze table, as `schema.name`.
        rows: some of its rows.
    """
    files = rows.select(*OF_FILE).distinct()
    for node in (one for one in stored(manifest) if one.resource_type == "model"):
        name, sources = table_of(node), map(table_of, sources_below(manifest, node))
        if table.lower() not in map(str.lower, sources) or not table_exists(spark, name):
            continue
        rejected = spark.table(name)
        if not {*OF_FILE, ROW, REASON} <= set(rejected.columns):
            continue
        of_files = rejected.join(files, list(OF_FILE), "left_semi")
        others = of_files.join(rows.select("_batch_id", ROW), ["_batch_id", ROW], "left_anti")
        for row in others.groupBy(REASON).count().orderBy(REASON).limit(MAX_REASONS).collect():
            records = f"{row['count']:,} more record{'' if row['count'] == 1 else 's'}"
            yield f"{records} of the same files: {row[REASON]} ({name})"
