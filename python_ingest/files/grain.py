"""The grain of a feed: records of one file that share their key although silver keeps one row of a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import FileFeed
from python_ingest.files.formats.rescue import TIMES
from python_ingest.ops.batch import Batch
from tidemark.base.errors import LandingError
from tidemark.base.output import count_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HASHES_HERE = 20_000_000  # of 8 bytes each; for a larger batch, Spark counts them
FILES_SHOWN = 5  # in the notes of one landing
VALUE_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True)
class FileGrain:
    """The records of one file that share their key, and those without one.

    Attributes:
        path: the file.
        records: its records that could be read.
        differing: records whose key another record has, with other content.
        lost: how many of them silver would lose.
        copies: exact copies of other records.
        without_key: records with NULL or blanks in the key.
        example: a key that several records have, with their number; empty if there is none.
    """

    path: str
    records: int
    differing: int
    lost: int
    copies: int
    without_key: int
    example: str


class Grain:
    """Checks the batches of one feed; does nothing for a feed without `key`.

    Args:
        feed: the feed.
        bronze: its table.
    """

    def __init__(self, feed: FileFeed, bronze: BronzeTable) -> None:
        self._feed = feed
        self._bronze = bronze
        self._has_limit = feed.external.max_repeated_share is not None

    def before(self, rows: DataFrame) -> list[FileGrain]:
        """Check rows that are not appended yet; if the feed has a limit, this reads the rows.

        Raises:
            LandingError: if a file exceeds the limit.
        """
        return check_grain(self._feed, rows, self._names) if self._has_limit else []

    def after(self, batch: Batch, number: int) -> list[FileGrain]:
        """Check a batch in bronze, if the feed has no limit.

        Args:
            batch: the batch.
            number: its number of rows.
        """
        if self._has_limit or not self._feed.external.key:
            return []
        rows = self._bronze.rows(batch).where(self._bronze.of_files)
        return grain_of(self._feed, rows, self._names, number)

    @property
    def _names(self) -> list[str]:
        return [target.name for target in self._bronze.targets]


def grain_of(
    feed: FileFeed, rows: DataFrame, contents: Sequence[str], number: int | None = None
) -> list[FileGrain]:
    """Return the files among a batch's rows whose records do not all have a key of their own.

    The usual case takes one look at hashes. Only if hashes repeat, the keys and contents are compared.

    Args:
        feed: the feed, with a `key`.
        rows: the rows as bronze has them.
        contents: the columns of the source.
        number: the number of rows, if it is known.

    Returns:
        One entry for each such file; first those that would lose most.
    """
    readable = rows.where("_corrupt_record is null")
    keys = key_columns(feed, rows)
    versions = [*keys.values(), *_newest_by(feed)]
    is_missing = reduce(or_, (value.isNull() for value in keys.values()))
    hashed = f.when(~is_missing, f.xxhash64("_source_file", *versions))
    if _are_unique(readable.select(hashed.alias("hash")), number):
        return []
    content = f.xxhash64(f.to_json(f.struct(*map(in_sql, contents), "_rescued_data"), TIMES))
    names = [f"_key_{number}" for number in range(len(versions))]
    by_content = readable.select(
        f.col("_source_file").alias("path"),
        is_missing.alias("missing"),
        *(value.alias(name) for name, value in zip(names, versions, strict=True)),
        content.alias("content"),
    )
    by_content = by_content.groupBy("path", "missing", *names, "content").agg(f.count("*").alias("same"))
    by_key = by_content.groupBy("path", "missing", *names).agg(
        f.count("*").alias("contents"), f.sum("same").alias("records")
    )
    return _by_file(feed, by_key, names)


def check_grain(feed: FileFeed, rows: DataFrame, contents: Sequence[str]) -> list[FileGrain]:
    """Return what `grain_of` does; stop if a file would lose more records than its feed allows.

    Raises:
        LandingError: if a file exceeds `max_repeated_share`.
    """
    found, most = grain_of(feed, rows, contents), feed.external.max_repeated_share
    above = [one for one in found if most is not None and one.lost > most * one.records]
    if above:
        files = f"{above[0].path}: {_differing(above[0])}" + f"; {len(above) - 1} more such files" * (
            len(above) > 1
        )
        raise LandingError(
            f"Feed '{feed.name}': {files}. None of the batch landed (max_repeated_share: {most}).",
            f"Correct `key` in {feed.declared_in} and unique_key of the silver model, fix the file, "
            "or raise the limit.",
        )
    return found


def notes(feed: FileFeed, found: Sequence[FileGrain]) -> Iterator[tuple[str, str]]:
    """Yield the notes on a landing's files: the event and one sentence.

    Args:
        feed: the feed.
        found: from `grain_of`.
    """
    fix = f"correct `key` in {feed.declared_in} and unique_key of the silver model"
    kinds = {
        "grain": [(one.path, f"{_differing(one)}; {fix}") for one in found if one.lost],
        "copies": [(one.path, _copies(one)) for one in found if one.copies],
        "no key": [(one.path, _without_key(feed, one)) for one in found if one.without_key],
    }
    for event, sentences in kinds.items():
        for path, sentence in sentences[:FILES_SHOWN]:
            yield event, f"{path}: {sentence}"
        if len(sentences) > FILES_SHOWN:
            yield event, f"the same in {count_of(len(sentences) - FILES_SHOWN, 'more file')}"


def key_columns(feed: FileFeed, rows: DataFrame) -> dict[str, Column]:
    """Return the values of a feed's key by column; text without blanks around it, NULL for blanks only."""
    types = dict(rows.dtypes)
    return {name: _value(name, types[name]) for name in feed.external.key}


def _value(name: str, of: str) -> Column:
    column = f.col(in_sql(name))
    return f.nullif(f.trim(column), f.lit("")) if of == "string" else column


def _are_unique(hashes: DataFrame, number: int | None) -> bool:
    """Return whether no hash repeats and none is NULL.

    An aggregate in Spark shuffles all hashes. To sort them in this process takes a tenth of the time.
    """
    if number is not None and number <= HASHES_HERE:
        column: Any = hashes.toArrow().column("hash")
        if column.null_count:
            return False
        ordered = import_module("numpy").sort(column.to_numpy())
        return not bool((ordered[1:] == ordered[:-1]).any())
    groups = hashes.groupBy("hash").agg(f.count("*").alias("records"))
    return groups.where("hash is null or records > 1").isEmpty()


def _newest_by(feed: FileFeed) -> list[Column]:
    return [f.col(in_sql(feed.external.newest_by))] if feed.external.newest_by else []


def _by_file(feed: FileFeed, by_key: DataFrame, names: Sequence[str]) -> list[FileGrain]:
    """Add up the keys of each file; files without repeated or missing keys are left out."""
    has_key, differs = ~f.col("missing"), f.col("contents") > 1
    repeats = has_key & (f.col("records") > 1)
    shown = f.struct("contents", "records", f.array(*(f.col(name).cast("string") for name in names)))
    by_file = by_key.groupBy("path").agg(
        f.sum("records").alias("records"),
        f.sum(f.when(has_key & differs, f.col("records"))).alias("differing"),
        f.sum(f.when(has_key, f.col("contents") - 1)).alias("lost"),
        f.sum(f.when(has_key, f.col("records") - f.col("contents"))).alias("copies"),
        f.sum(f.when(~has_key, f.col("records"))).alias("without_key"),
        f.max(f.when(repeats, shown)).alias("example"),
    )
    ordered = by_file.where("lost > 0 or copies > 0 or without_key > 0").orderBy(f.desc("lost"), "path")
    counts = ("records", "differing", "lost", "copies", "without_key")
    return [
        FileGrain(
            path=row["path"],
            example=_example(feed, row["example"]),
            **{name: row[name] or 0 for name in counts},
        )
        for row in ordered.collect()
    ]


def _example(feed: FileFeed, found: Any) -> str:
    if found is None:
        return ""
    newest_by = [feed.external.newest_by] if feed.external.newest_by else []
    _, records, values = found
    pairs = zip((*feed.external.key, *newest_by), values, strict=True)
    shown = (f"{name}={_shown(feed, name, value)}" for name, value in pairs)
    return f"{count_of(records, 'record')} with {', '.join(shown)}"


def _shown(feed: FileFeed, name: str, value: str | None) -> str:
    if value is None or name in feed.external.pii:
        return "NULL" if value is None else "…"
    return value if len(value) <= VALUE_SHOWN else f"{value[:VALUE_SHOWN]}…"


def _differing(one: FileGrain) -> str:
    return (
        f"{one.differing:,} of {count_of(one.records, 'record')} share their key with others and differ, "
        f"such as {one.example}: {one.lost:,} of them would be lost in silver"
    )


def _copies(one: FileGrain) -> str:
    return (
        f"exact copies of other records: {one.copies:,} of {one.records:,}; silver keeps one of each; "
        "if each counts, add a column to `key` that tells them apart"
    )


def _without_key(feed: FileFeed, one: FileGrain) -> str:
    return f"{' or '.join(feed.external.key)} is missing in {one.without_key:,} of {one.records:,} records"
