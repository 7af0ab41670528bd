"""Read sample files: their format, their columns, and the types that fit all values seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from python_ingest.feeds.file_formats import BY_ENDING, FILE_FORMATS
from python_ingest.files.formats.inference import storable, type_of
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.reading.csv_sample import read_csv
from tidemark.scaffold.reading.excel_sample import read_excel
from tidemark.scaffold.reading.folder import suffix_of
from tidemark.scaffold.reading.json_sample import read_json
from tidemark.scaffold.reading.opening import BROKEN, ENDINGS, SampleFile, sample_files
from tidemark.scaffold.reading.reading import Reading
from tidemark.scaffold.reading.texts import SAMPLE_BYTES
from tidemark.scaffold.reading.typed_sample import read_typed
from tidemark.scaffold.reading.unreadable import content_suffix, unread_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_FILES = 20
SAMPLE_RECORDS = 5_000
MOST_MEMBERS = 1_000  # of zip files


@dataclass(frozen=True)
class Sample:
    """Records of sample files.

    Attributes:
        file_format: a name in `FILE_FORMATS`.
        options: options of the feed's block that differ from the defaults.
        types: SQL types by field; of CSV and Excel files text, until `typed_sample` has found others.
        records: values by field; of CSV and Excel files they are text without surrounding blanks, or None for
            an empty value.
        kept_nulls: words for NULL in text fields, where they may be values; `typed_sample` finds them.
        more: returns all records; if None, the records of the sample are all.
        notes: what was assumed about the files: pairs of an event and a sentence.
        padded: fields where some value has surrounding blanks.
        partitions: the columns that folders like `year=2025` have in their names.
    """

    file_format: str
    options: dict[str, Any]
    types: dict[str, str]
    records: list[dict[str, Any]]
    kept_nulls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    more: Callable[[], Iterator[dict[str, Any]]] | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)
    padded: set[str] = field(default_factory=set)
    partitions: list[str] = field(default_factory=list)

    def everything(self) -> Iterator[dict[str, Any]]:
        """Return all records of the files that can be read without Spark, else those of the sample."""
        return self.more() if self.more else iter(self.records)


def sample_of(
    spark: Callable[[], SparkSession], files: Sequence[Path], choices: Choices | None = None
) -> Sample:
    """Read the beginning of some files of one feed.

    Args:
        spark: returns the session; not used for CSV files and Excel workbooks.
        files: the files, all of one format, which the name of the first one shows, or its first bytes.
        choices: what the user says about the files.

    Raises:
        TidemarkError: when the format is unknown or does not land, the files have no readable records, or it
            is not certain how to read them.
    """
    asked = choices or Choices()
    file_format, notes = _format_of(files[0])
    if file_format == "excel":
        reading = read_excel(files[:SAMPLE_FILES], files, asked)
        return _of_texts("excel", reading, notes)
    some = sample_files(files, SAMPLE_FILES)
    if FILE_FORMATS[file_format].has_types:
        types, records, message = read_typed(spark(), file_format, some)
        return Sample(file_format, {}, types, records, notes=[*notes, *message])
    every = sample_files(files, len(files) + MOST_MEMBERS)
    if file_format == "csv":
        return _of_texts("csv", read_csv(some, every, asked), notes)
    return _json(spark, read_json(some, every), some[0], notes)


def _format_of(file: Path) -> tuple[str, list[tuple[str, str]]]:
    """Return the format of a file, and a note if its name does not show it."""
    if refused := unread_format(file):
        raise refused
    suffix = suffix_of(file)
    if suffix in BY_ENDING:
        return BY_ENDING[suffix], []
    try:
        head, _ = sample_files([file], 1)[0].head(SAMPLE_BYTES)
    except (*BROKEN, IndexError) as error:
        raise TidemarkError(f"{file} cannot be read: {error}", "Replace or remove it.") from error
    found = BY_ENDING.get(content_suffix(head))
    if not found or b"\x00" in head[:512]:
        raise TidemarkError(
            f"{file}: the file name does not show the format.",
            f"Use files that end in one of: {', '.join(BY_ENDING)}; {', '.join(ENDINGS[1:])} may follow.",
        )
    return found, [("format", f"{found}, by the content of {file.name}")]


def _of_texts(file_format: str, reading: Reading, notes: Sequence[tuple[str, str]]) -> Sample:
    """Return the sample of files whose values are text; `typed_sample` finds what it can be cast to."""
    return Sample(
        file_format,
        reading.options,
        dict.fromkeys(reading.names, "string"),
        reading.records[:SAMPLE_RECORDS],
        more=reading.more,
        notes=[*notes, *reading.notes],
        padded=set(reading.padded),
    )


def _json(
    spark: Callable[[], SparkSession], reading: Reading, file: SampleFile, notes: Sequence[tuple[str, str]]
) -> Sample:
    rows = [(json.dumps(record),) for record in reading.records]
    frame = spark().createDataFrame(rows, "record string")
    row: Any = frame.selectExpr("schema_of_variant_agg(try_parse_json(record))").first()
    record = type_of(row[0]) if row[0] else None
    if not isinstance(record, StructType):
        raise TidemarkError(f"{file}: Spark cannot read its JSON objects.", "Use files with simpler objects.")
    fields = {field.name: storable(field.dataType).simpleString() for field in record}
    known = {n: "string" if fields.get(n, "void") == "void" else fields[n] for n in reading.names}
    notes = [*notes, *reading.notes]
    return Sample("json", reading.options, known, reading.records, more=reading.more, notes=notes)
