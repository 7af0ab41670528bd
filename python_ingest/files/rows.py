"""Convert the rows of files to the columns of their bronze table, without dropping or guessing anything."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.external_excel import ExcelOptions
from python_ingest.feeds.external_files import csv_options
from python_ingest.feeds.file_formats import FILE_FORMATS
from python_ingest.feeds.paths import as_uri, spellings
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.formats.base import Format
from python_ingest.files.staging import Staging

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def format_of(spark: SparkSession, feed: FileFeed) -> Format:
    """Return the reader of a feed's files."""
    if isinstance(feed.external.options, ExcelOptions):  # workbooks are converted to CSV
        external = feed.external.model_copy(update={"options": csv_options(feed.external)})
        feed = feed.model_copy(update={"external": external})
    reader: Format = FILE_FORMATS[feed.external.file_format].load_reader()(spark, feed)
    return reader


@dataclass(frozen=True)
class Places:
    """Where the files of a feed are.

    Attributes:
        root: the feed's location as Hadoop prints it, with a trailing `/`.
        staging: the folder of unpacked files.
        partitions: the columns whose values are in the names of folders.
    """

    root: str
    staging: Staging
    partitions: tuple[str, ...] = ()


def bronze_rows(
    reader: Format, places: Places, files: Sequence[tuple[SourceFile, Hashable]], targets: Sequence[Target]
) -> DataFrame:
    """Read files, each with its own layout.

    Args:
        reader: from `format_of`.
        places: where the files are.
        files: the files with the results of `Format.layout`; at least one.
        targets: the bronze table's columns.

    Returns:
        The columns, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, `_source_file`,
        `_source_modified_at` and `_row_number` (unique in the result).
    """
    by_layout: dict[Hashable, list[SourceFile]] = {}
    for file, layout in files:
        by_layout.setdefault(layout, []).append(file)
    in_files = [target for target in targets if target.name not in places.partitions]
    parts = [reader.rows(layout, group, in_files) for layout, group in by_layout.items()]
    rows = reduce(lambda one, other: one.unionByName(other), parts)
    source = _path_below(places.root, [file.path for file, _ in files])
    if places.staging.is_used:
        source, modified_at = places.staging.columns(source, f.col("_source_modified_at"))
        rows = rows.withColumn("_source_modified_at", modified_at)
    return (
        rows.withColumn("_source_file", source)
        .withColumns({name: in_folder(name, f.col("_source_file")) for name in places.partitions})
        .withColumn("_row_number", f.monotonically_increasing_id())
        .drop("_uri")
    )


def in_folder(name: str, path: Column) -> Column:
    """Return the value that a folder of a path gives to a column: `2025` for `year` in `a/year=2025/b.csv`.

    The folder nearest to the file counts. NULL if there is none, or Hive's name for NULL.
    """
    text = f.regexp_extract(path, rf"^(?:.*/)?{name}=([^/]*)/", 1)
    has_folder = f.rlike(path, f.lit(rf"^(?:.*/)?{name}=[^/]*/"))
    decoded = f.try_url_decode(f.replace(text, f.lit("+"), f.lit("%2B")))
    value = f.when(f.contains(text, f.lit("%")), f.coalesce(decoded, text)).otherwise(text)
    return f.when(has_folder & (text != HIVE_NULL), value)


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
