"""CSV files as a Spark DataFrame in the shape of bronze: nothing dropped, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.csv_header import Header
from python_ingest.declarations import Feed
from python_ingest.storage import SourceFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

METADATA = (
    "_rescued_data string",
    "_corrupt_record string",
    "_source_file string",
    "_source_modified_at timestamp",
    "_row_id bigint",
    "_batch_id bigint",
    "_ingested_at timestamp",
)
SCHEME = "^[a-z0-9]+:/+"  # one file system writes file:/ or file:///, so paths are compared without it
REPLACEMENT = "\ufffd"  # what a decoder writes in place of bytes that are not UTF-8


def read_csv(spark: SparkSession, feed: Feed, files: Sequence[tuple[SourceFile, Header]]) -> DataFrame:
    """Read files of one feed, each by its own header, mapped to the declared columns by name.

    Args:
        spark: the session.
        feed: the declaration.
        files: the files with their checked headers; at least one.

    Returns:
        The declared columns as text, `_rescued_data` (undeclared columns as JSON), `_corrupt_record`
        (lines that do not fit the header or are not UTF-8), `_source_file`, `_source_modified_at` and
        `_row_id` (unique in the result).
    """
    by_header: dict[Header, list[SourceFile]] = {}
    for file, header in files:
        by_header.setdefault(header, []).append(file)
    parts = [_read_group(spark, feed, header, group) for header, group in by_header.items()]
    rows = reduce(lambda one, other: one.unionByName(other), parts)
    listed = spark.createDataFrame(
        [(re.sub(SCHEME, "", file.uri), file.path, file.modified_at) for file, _ in files],
        "_uri string, _source_file string, _source_modified_at timestamp",
    )
    return (
        rows.join(f.broadcast(listed), on="_uri", how="left")
        .withColumn("_row_id", f.monotonically_increasing_id())
        .drop("_uri")
    )


def _read_group(spark: SparkSession, feed: Feed, header: Header, files: Sequence[SourceFile]) -> DataFrame:
    options = feed.external.options
    fields = [f"c{position}" for position in range(len(header.names))]
    schema = ", ".join(f"{name} string" for name in (*fields, "_broken"))
    lines = (
        spark.read.schema(schema)
        .option("header", True)
        .option("mode", "PERMISSIVE")
        .option("columnNameOfCorruptRecord", "_broken")
        .option("sep", options.delimiter)
        .option("quote", options.quote)
        .option("escape", options.escape)
        .option("nullValue", options.null_value)
        .csv([file.glob for file in files])
    )
    values = [f.col(name) for name in fields]
    declared = [values[header.position(column)].alias(column) for column in feed.column_names]
    garbled = f.concat_ws(options.delimiter, *values)
    corrupt = f.coalesce(f.col("_broken"), f.when(f.contains(garbled, f.lit(REPLACEMENT)), garbled))
    return lines.select(
        *declared,
        _rescued(header, values, feed).alias("_rescued_data"),
        corrupt.alias("_corrupt_record"),
        f.regexp_replace("_metadata.file_path", SCHEME, "").alias("_uri"),
    )


def _rescued(header: Header, values: Sequence[Column], feed: Feed) -> Column:
    extra = [
        value.alias(name)
        for name, value in zip(header.names, values, strict=True)
        if name.lower() not in feed.column_names
    ]
    if not extra:
        return f.lit(None).cast("string")
    return f.nullif(f.to_json(f.struct(*extra)), f.lit("{}"))
