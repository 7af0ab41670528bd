"""Convert the rows of files to the columns of their bronze table, without dropping or guessing anything."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.paths import as_uri, spellings
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.formats.base import Format
from python_ingest.files.formats.csv import Csv
from python_ingest.files.formats.json import Json
from python_ingest.files.formats.typed import Typed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FORMATS: dict[str, type[Csv] | type[Json] | type[Typed]] = {
    "csv": Csv,
    "json": Json,
    "avro": Typed,
    "orc": Typed,
    "parquet": Typed,
}


def format_of(spark: SparkSession, feed: FileFeed) -> Format:
    """Return the reader of a feed's files."""
    return FORMATS[feed.external.file_format](spark, feed)


def bronze_rows(
    reader: Format, root: str, files: Sequence[tuple[SourceFile, Hashable]], targets: Sequence[Target]
) -> DataFrame:
    """Read files, each with its own layout.

    Args:
        reader: from `format_of`.
        root: the feed's location as Hadoop prints it, with a trailing `/`.
        files: the files with the results of `Format.layout`; at least one.
        targets: the bronze table's columns.

    Returns:
        The columns, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, `_source_file`,
        `_source_modified_at` and `_row_number` (unique in the result).
    """
    by_layout: dict[Hashable, list[SourceFile]] = {}
    for file, layout in files:
        by_layout.setdefault(layout, []).append(file)
    parts = [reader.rows(layout, group, targets) for layout, group in by_layout.items()]
    rows = reduce(lambda one, other: one.unionByName(other), parts)
    return (
        rows.withColumn("_source_file", _path_below(root, [file.path for file, _ in files]))
        .withColumn("_row_number", f.monotonically_increasing_id())
        .drop("_uri")
    )


def _path_below(root: str, paths: Sequence[str]) -> Column:
    """Return `_uri` as a decoded path relative to the root; raise an error if it is not below the root.

    Args:
        root: the location as Hadoop prints it.
        paths: all paths that occur; if no URI of them is percent-encoded, no row needs decoding.
    """
    uri = f.col("_uri")
    in_bytes = uri.cast("binary")  # a substring of bytes does not have to count characters
    relative = f.raise_error(f.concat(f.lit(f"not below {root}: "), uri)).cast("string")
    for prefix in spellings(as_uri(root)):
        rest = f.substr(in_bytes, f.lit(len(prefix.encode()) + 1)).cast("string")
        relative = f.when(f.startswith(uri, f.lit(prefix)), rest).otherwise(relative)
    if not any("%" in as_uri(path) for path in paths):
        return relative
    decoded = f.url_decode(f.replace(relative, f.lit("+"), f.lit("%2B")))
    return f.when(f.contains(relative, f.lit("%")), decoded).otherwise(relative)
