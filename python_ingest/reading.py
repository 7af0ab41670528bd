"""CSV files as a Spark DataFrame in the shape of bronze: nothing dropped, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.csv_header import Header
from python_ingest.declarations import CsvOptions, Feed
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
NOT_IN_TEXT = "\u0001"
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
    parsing = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "_broken",
        "sep": options.delimiter,
        "quote": options.quote,
        "escape": options.escape,
        "nullValue": options.null_value,
    }
    lines = _lines(spark, files).select(
        "_line", "_uri", f.from_csv("_line", schema, parsing).alias("_fields")
    )
    values = [f.col(f"_fields.{name}") for name in fields]
    declared = [values[header.position(column)].alias(column) for column in feed.column_names]
    broken = (
        f.col("_fields._broken").isNotNull()
        | f.contains(f.col("_line"), f.lit(REPLACEMENT))
        | _quote_is_open(options)
    )
    return lines.select(
        *declared,
        _rescued(header, values, feed).alias("_rescued_data"),
        f.when(broken, f.col("_line")).alias("_corrupt_record"),
        "_uri",
    )


def _lines(spark: SparkSession, files: Sequence[SourceFile]) -> DataFrame:
    """Return the lines after the header, as they are, each with its file: a CSV of one column."""
    return (
        spark.read.schema("_field string, _whole string")
        .option("header", True)
        .option("columnNameOfCorruptRecord", "_whole")
        .option("sep", NOT_IN_TEXT)
        .option("quote", "")
        .option("escape", "")
        .option("nullValue", NOT_IN_TEXT)
        .csv([file.glob for file in files])
        .select(
            f.coalesce("_whole", "_field").alias("_line"),
            f.regexp_replace("_metadata.file_path", SCHEME, "").alias("_uri"),
        )
    )


def _quote_is_open(options: CsvOptions) -> Column:
    """True for a line with an odd number of quotes: Spark would take the open field as it stands."""
    line = f.col("_line")
    if options.escape != options.quote:
        line = f.regexp_replace(line, re.escape(options.escape) + ".", "")
    quotes = f.length(line) - f.length(f.replace(line, f.lit(options.quote), f.lit("")))
    return quotes % 2 == 1


def _rescued(header: Header, values: Sequence[Column], feed: Feed) -> Column:
    extra = [
        value.alias(name)
        for name, value in zip(header.names, values, strict=True)
        if name.lower() not in feed.column_names
    ]
    if not extra:
        return f.lit(None).cast("string")
    return f.nullif(f.to_json(f.struct(*extra)), f.lit("{}"))
