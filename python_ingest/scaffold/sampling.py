"""Read sample files: their format, their columns, and the types that fit all values seen."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from python_ingest.bronze.columns import sql_name
from python_ingest.errors import TidemarkError
from python_ingest.files.formats.encodings import REPLACEMENT
from python_ingest.files.formats.inference import storable, type_of
from python_ingest.files.formats.typed import MAGIC
from python_ingest.scaffold import value_types

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = {"csv": "csv", "tsv": "csv", "txt": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
DELIMITERS = ",;\t|"
SAMPLE_BYTES = 2**20
SAMPLE_FILES = 20
SAMPLE_RECORDS = 5_000


@dataclass(frozen=True)
class Sample:
    """Records of sample files.

    Attributes:
        file_format: csv, json, avro or parquet.
        options: options of the feed's block that differ from the defaults.
        types: SQL types by field; for a CSV file, the types to which its text can be cast.
        records: values by field; in a CSV file they are text, or None for an empty value or a word for NULL.
        nulls: words for NULL by field, such as NA among numbers.
        kept_nulls: such words in text fields; there they may be values.
        more: returns all records; if None, the records of the sample are all.
    """

    file_format: str
    options: dict[str, Any]
    types: dict[str, str]
    records: list[dict[str, Any]]
    nulls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept_nulls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    more: Callable[[], Iterator[dict[str, Any]]] | None = None

    def everything(self) -> Iterator[dict[str, Any]]:
        """Return all records of the files that can be read without Spark, else those of the sample."""
        return self.more() if self.more else iter(self.records)


def sample_of(spark: Callable[[], SparkSession], files: Sequence[Path]) -> Sample:
    """Read the beginning of some files of one feed.

    Args:
        spark: returns the session; used for all formats except CSV.
        files: the files; the name of the first one determines the format.

    Raises:
        TidemarkError: when the format is unknown, or the files have no readable records.
    """
    name = files[0].name.removesuffix(".gz").removesuffix(".bz2")
    suffix = name.rpartition(".")[2].lower()
    if suffix in MAGIC:
        return _typed(spark(), suffix, files)
    if suffix not in FORMATS:
        raise TidemarkError(
            f"{files[0]}: the file name does not show the format.",
            f"Use files that end in one of: {', '.join([*FORMATS, *MAGIC])}; .gz and .bz2 may follow.",
        )
    texts = [_text(file) for file in files[:SAMPLE_FILES]]
    return _csv(files, texts) if FORMATS[suffix] == "csv" else _json(spark(), files[0], texts)


def _text(file: Path) -> tuple[str, str]:
    """Return the first complete lines of a file, and their encoding."""
    with OPENERS.get(file.suffix, open)(file, "rb") as stream:
        content = stream.read(SAMPLE_BYTES)
    if len(content) == SAMPLE_BYTES:
        content = content[: content.rfind(b"\n") + 1] or content
    for encoding in (
        ("utf-16",) if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "windows-1252")
    ):
        text = content.decode(encoding, "replace")
        if REPLACEMENT not in text:
            break
    return text, encoding


def _csv(files: Sequence[Path], texts: Sequence[tuple[str, str]]) -> Sample:
    text, encoding = texts[0]
    header = text.partition("\n")[0].rstrip("\r")
    delimiter = max(DELIMITERS, key=lambda sign: len(next(csv.reader([header], delimiter=sign), [])))
    records = [row for some, _ in texts for row in _rows(io.StringIO(some, newline=""), delimiter)]
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    if not records or len({sql_name(name) for name in names} - {""}) < len(names):
        raise TidemarkError(
            f"{files[0]}: expected a header with a unique name for each column, and records.",
            "Give a file with a header line and some records, or declare the feed by hand: docs/landing.md.",
        )
    options: dict[str, Any] = {} if delimiter == "," else {"delimiter": delimiter}
    if encoding == "windows-1252":
        options["encoding"] = "windows-1252"
    if any("\n" in value for row in records for value in row.values() if value):
        options["multi_line"] = True
    types: dict[str, str] = {}
    nulls: dict[str, tuple[str, ...]] = {}
    kept: dict[str, tuple[str, ...]] = {}
    for name in names:
        types[name], words = _type([row[name] for row in records if row[name]])
        if words:
            (kept if types[name] == "string" else nulls)[name] = words
    records = [
        {name: None if value in nulls.get(name, ()) else value for name, value in row.items()}
        for row in records[:SAMPLE_RECORDS]
    ]
    more = partial(_all_rows, files, delimiter, encoding)
    return Sample("csv", options, types, records, nulls, kept, more)


def _all_rows(files: Sequence[Path], delimiter: str, encoding: str) -> Iterator[dict[str, Any]]:
    for file in files:
        opened = OPENERS.get(file.suffix, open)
        # a broken file is ignored here; landing sets it aside
        with (
            suppress(csv.Error, OSError, EOFError),
            opened(file, "rt", encoding=encoding, errors="replace", newline="") as stream,
        ):
            yield from _rows(stream, delimiter)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[dict[str, Any]]:
    """Yield the records with as many values as the header has columns; an empty value is None."""
    for row in csv.DictReader(lines, delimiter=delimiter):
        if None not in row and None not in row.values():
            yield {name.strip(): value.strip() or None for name, value in row.items()}


def _type(values: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the type that fits all values, and the words among them that mean NULL."""
    found = value_types.type_of(Counter(values))
    return found.type, found.nulls


def _json(spark: SparkSession, file: Path, texts: Sequence[tuple[str, str]]) -> Sample:
    lines = [line for text, _ in texts for line in text.splitlines() if line.strip()]
    records = [record for record in map(_parsed, lines) if isinstance(record, dict)]
    options = {}
    if not records:
        options = {"whole_file": True}
        wholes = [_parsed(text) for text, _ in texts]
        elements = [one for whole in wholes for one in (whole if isinstance(whole, list) else [whole])]
        records = [record for record in elements if isinstance(record, dict)]
    records = records[:SAMPLE_RECORDS]
    if not records:
        raise TidemarkError(
            f"{file}: no JSON objects in its first {SAMPLE_BYTES:,} bytes.",
            "Use a smaller file, or one with one object per line.",
        )
    frame = spark.createDataFrame([(json.dumps(record),) for record in records], "record string")
    row: Any = frame.selectExpr("schema_of_variant_agg(try_parse_json(record))").first()
    fields = {field.name: storable(field.dataType).simpleString() for field in type_of(row[0])}  # type: ignore[attr-defined]
    names = dict.fromkeys(name for record in records for name in record)
    known = {name: "string" if fields[name] == "void" else fields[name] for name in names}
    return Sample("json", options, known, records)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _typed(spark: SparkSession, file_format: str, files: Sequence[Path]) -> Sample:
    frame = spark.read.format(file_format).load([str(file.resolve()) for file in files[:SAMPLE_FILES]])
    records = [row.asDict(recursive=True) for row in frame.limit(SAMPLE_RECORDS).collect()]
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    return Sample(file_format, {}, types, records)
