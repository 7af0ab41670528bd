"""What sample files tell: their format, their columns, the types that fit all values seen."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from python_ingest.columns import sql_name
from python_ingest.errors import TidemarkError
from python_ingest.formats.base import REPLACEMENT
from python_ingest.formats.inference import storable, type_of
from python_ingest.formats.typed import MAGIC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = {"csv": "csv", "tsv": "csv", "txt": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
DELIMITERS = ",;\t|"
SAMPLE_BYTES = 2**20
SAMPLE_FILES = 20
SAMPLE_RECORDS = 5_000
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
WHOLE = r"-?(0|[1-9][0-9]{0,17})"
TYPES = {  # of text; the first that all values match
    "bigint": WHOLE,
    "decimal": WHOLE + r"([.][0-9]{1,6})?",
    "date": DAY,
    "timestamp": DAY + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?",
    "boolean": r"(?i)true|false",
}


@dataclass(frozen=True)
class Sample:
    """Records of sample files.

    Attributes:
        file_format: csv, json, avro or parquet.
        options: of the feed's block, beyond the defaults.
        types: SQL types by field; of a CSV file those that its text could be cast to.
        records: values by field; of a CSV file text, None where it is empty.
    """

    file_format: str
    options: dict[str, Any]
    types: dict[str, str]
    records: list[dict[str, Any]]


def sample_of(spark: Callable[[], SparkSession], files: Sequence[Path]) -> Sample:
    """Read the beginning of some files of one feed.

    Args:
        spark: gives the session, where it is needed: for all formats but CSV.
        files: the files; the format is that of the first one's name.

    Raises:
        TidemarkError: when they hold no records that can be read.
    """
    name = files[0].name.removesuffix(".gz").removesuffix(".bz2")
    suffix = name.rpartition(".")[2].lower()
    if suffix in MAGIC:
        return _typed(spark(), suffix, files)
    if suffix not in FORMATS:
        raise TidemarkError(
            f"{files[0]}: the name does not tell the format.",
            f"Give files that end in one of: {', '.join([*FORMATS, *MAGIC])}; .gz and .bz2 may follow.",
        )
    texts = [_text(file) for file in files[:SAMPLE_FILES]]
    return _csv(files[0], texts) if FORMATS[suffix] == "csv" else _json(spark(), files[0], texts)


def _text(file: Path) -> tuple[str, str]:
    """Return the first whole lines of a file, and their encoding."""
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


def _csv(file: Path, texts: Sequence[tuple[str, str]]) -> Sample:
    text = texts[0][0]
    header = text.partition("\n")[0].rstrip("\r")
    delimiter = max(DELIMITERS, key=lambda sign: len(next(csv.reader([header], delimiter=sign), [])))
    records: list[dict[str, Any]] = []
    for some, _ in texts:
        reader = csv.DictReader(io.StringIO(some, newline=""), delimiter=delimiter)
        records += [row for row in reader if None not in row and None not in row.values()]
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    if not records or len({sql_name(name) for name in names} - {""}) < len(names):
        raise TidemarkError(
            f"{file}: no records under a header with a name for each column.",
            "Give a file with a header line and some records, or declare the feed by hand: docs/landing.md.",
        )
    records = [
        {name.strip(): (value or "").strip() or None for name, value in row.items()} for row in records
    ]
    options: dict[str, Any] = {} if delimiter == "," else {"delimiter": delimiter}
    if texts[0][1] == "windows-1252":
        options["encoding"] = "windows-1252"
    if any("\n" in value for row in records for value in row.values() if value):
        options["multi_line"] = True
    types = {name: _type([row[name] for row in records if row[name]]) for name in names}
    return Sample("csv", options, types, records[:SAMPLE_RECORDS])


def _type(values: Sequence[str]) -> str:
    fitting = (of for of, pattern in TYPES.items() if all(re.fullmatch(pattern, value) for value in values))
    of = next(fitting, "string") if values else "string"
    if of != "decimal":
        return of
    scale = max(len(value.partition(".")[2]) for value in values)
    return f"decimal(18, {scale})"


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
            "Give a smaller file, or one with an object a line.",
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


def key_of(sample: Sample, entity: str) -> str | None:
    """Return the field that tells records apart as far as was seen, one named like an id first.

    Repeated records are versions of one thing: a field that is the most varied, and is never empty, will do.
    """
    usable = [name for name, of in sample.types.items() if of in ("string", "bigint", "int")]
    filled = [name for name in usable if all(row.get(name) is not None for row in sample.records)]
    named = [f"{entity}_id", "id", f"{entity}id", f"{entity}_number", "uuid", "key"]
    for wanted in named:
        if found := next((name for name in filled if sql_name(name) == wanted), None):
            return found
    variety = Counter({name: len({row[name] for row in sample.records}) for name in filled})
    ids = [name for name in filled if sql_name(name).endswith("_id")]
    return next((name for name in ids or filled if variety[name] == max(variety.values())), None)
