"""Read sample files in Avro, ORC and Parquet as landing reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.bronze.columns import Target, in_sql
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import Column, FileFeed
from python_ingest.feeds.external_files import TypedExternal
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content
from python_ingest.files.failures import broken_file, in_plain_words, innermost
from python_ingest.files.formats.typed import Typed
from tidemark.base.clock import utc_time
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.opening import BROKEN, SampleFile
from tidemark.scaffold.reading.reading import Note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

RESCUED = "_rescued_data"
HEAD_BYTES = 2**20  # the schema of an Avro file is at its beginning
RECORDS = 5_000
REPLACE = "Replace the file, or write its columns in types that Spark reads."


def read_typed(
    spark: SparkSession, file_format: str, files: Sequence[SampleFile]
) -> tuple[dict[str, str], list[dict[str, Any]], list[Note]]:
    """Read the beginnings of files that contain their columns and types.

    Args:
        spark: the session.
        file_format: avro, orc or parquet.
        files: the files; the first one that can be read gives the columns.

    Returns:
        The SQL types by column, the first records, and notes about the files.

    Raises:
        TidemarkError: when no file can be read, or the files have no records.
    """
    reader = _reader(spark, file_format, files[0].path.parent)
    layouts: dict[Hashable, list[SourceFile]] = {}
    notes: list[Note] = []
    for file in files:
        source, layout = _layout(reader, file)
        if isinstance(layout, Rejection):
            notes.append(("left out", f"{file}: {layout.reason}"))
        else:
            layouts.setdefault(layout, []).append(source)
    if not layouts:
        raise TidemarkError(f"{notes[0][1].rstrip('.')}.", REPLACE)
    schema = reader.fields(next(iter(layouts)), files[0])  # type: ignore[arg-type]
    records = _records(reader, schema, layouts)
    if rescued := sorted({name for record in records for name in json.loads(record.pop(RESCUED) or "{}")}):
        notes.append(
            ("rescued", f"some values of {', '.join(rescued)} do not fit: `_rescued_data` keeps them")
        )
    if not records:
        raise TidemarkError(
            f"{files[0]} has no records.", "Give a file with some records: they show the key of the feed."
        )
    types = {field.name: field.dataType.simpleString() for field in schema}
    return {n: "string" if of == "void" else of for n, of in types.items()}, records, notes


def _reader(spark: SparkSession, file_format: str, folder: Path) -> Typed:
    """Return landing's reader, for a feed without declared columns."""
    external: Any = {"location": str(folder), "file_format": file_format}
    feed = FileFeed(
        name="sample",
        schema_name="bronze",
        identifier="sample",
        declared_in="",
        external=TypedExternal(**external),
        columns=(Column(name="unknown", data_type="string"),),
    )
    return Typed(spark, feed)


def _layout(reader: Typed, file: SampleFile) -> tuple[SourceFile, Hashable | Rejection]:
    size = file.path.stat().st_size
    source = SourceFile(file.path.name, f"file:{file.path.resolve()}", size, utc_time(0))
    try:
        with file.open() as stream:
            head = stream.read(HEAD_BYTES)
    except BROKEN as error:
        return source, Rejection(f"it cannot be read: {error}")
    found = reader.layout(Content(head=head, size=size), source)
    if isinstance(found, Rejection):
        return source, Rejection(re.sub(r" SQLSTATE: \w+$", "", found.reason))
    return source, found


def _records(
    reader: Typed, schema: StructType, layouts: dict[Hashable, list[SourceFile]]
) -> list[dict[str, Any]]:
    targets = [Target(field.name, field.dataType, field.name) for field in schema]
    names = [in_sql(field.name) for field in schema]
    records: list[dict[str, Any]] = []
    for layout, sources in layouts.items():
        try:
            rows = reader.rows(layout, sources, targets).select(*names, RESCUED).limit(RECORDS).collect()
        except (Py4JJavaError, PySparkException) as error:
            found = broken_file(error)
            reason = found[1] if found else in_plain_words(innermost(error))
            raise TidemarkError(
                f"{sources[0].path} cannot be read: {reason.rstrip('.')}.", REPLACE
            ) from error
        records += [row.asDict(recursive=True) for row in rows]
    return records[:RECORDS]
