"""Avro, Parquet and ORC files: say which column cannot land before Spark stops at it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from python_ingest.errors import TidemarkError
from python_ingest.scaffold.reading.opening import SampleFile
from python_ingest.scaffold.reading.unreadable import python_command

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

DIGITS = 38
CONVERT = (
    "import pyarrow.parquet as p; t = p.read_table({path}); "
    "i = t.schema.get_field_index({column}); "
    "p.write_table(t.set_column(i, {column}, t.column(i).cast({to})), {new})"
)
REWRITE = "import pyarrow.parquet as p; p.write_table(p.read_table({path}), {new}, compression='zstd')"


def check_types(files: Sequence[SampleFile], file_format: str) -> None:
    """Stop if a Parquet file has a column or a compression that Spark does not read.

    Without pyarrow nothing is checked; then Spark's own message is shown.

    Raises:
        TidemarkError: when it has; the message names the column and the command that converts it.
    """
    if file_format != "parquet":
        return
    try:
        from pyarrow import parquet
    except ImportError:
        return
    for file in files:
        with suppress(OSError, ValueError):
            meta = parquet.ParquetFile(file.path).metadata
            _check_file(file, meta, meta.schema.to_arrow_schema())


def _check_file(file: SampleFile, meta: Any, schema: pa.Schema) -> None:
    name, new = file.path.name, f"{file.path.stem}-converted.parquet"
    if meta.num_row_groups and meta.num_columns:
        codec = meta.row_group(0).column(0).compression
        if codec in ("BROTLI", "LZO"):
            command = REWRITE.format(path=repr(name), new=repr(new))
            raise TidemarkError(
                f"{name} is compressed with {codec.lower()}, which Spark does not read.",
                f"Write it with zstd: {python_command(command)}",
            )
    for column, problem, to in _problems(schema):
        if to is None:
            fix = "Write the column as text, in the program that writes the files."
        else:
            command = CONVERT.format(path=repr(name), column=repr(column), to=repr(to), new=repr(new))
            fix = f"Convert it: {python_command(command)}"
        raise TidemarkError(f"{name}: the column {column} is {problem}, which Spark does not read.", fix)


def _problems(schema: pa.Schema) -> Iterator[tuple[str, str, str | None]]:
    """Yield columns that Spark does not read: the name, the type, and the type to cast it to."""
    for field in schema:
        for of in _types(field.type):
            text = str(of)
            if re.match(r"decimal", text) and of.precision > DIGITS:
                yield field.name, f"a decimal of {of.precision} digits", _plain(field, of, "string")
            elif text.startswith("time"):
                if re.match(r"time(32|64)", text):
                    yield field.name, "a time without a date", _plain(field, of, "string")
                elif text.startswith("timestamp[ns"):
                    zone = f", {of.tz}" if of.tz else ""
                    yield field.name, "a time in nanoseconds", _plain(field, of, f"timestamp[us{zone}]")
            elif text == "halffloat":
                yield field.name, "a number of 16 bits", _plain(field, of, "float")


def _plain(field: pa.Field, of: pa.DataType, to: str) -> str | None:
    return to if field.type == of else None


def _types(of: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type and the types inside it."""
    yield of
    for position in range(of.num_fields):
        yield from _types(of.field(position).type)


def unread(file: SampleFile, file_format: str, message: str) -> TidemarkError:
    """Return the sentence about a file that Spark cannot read.

    Args:
        file: the file.
        file_format: avro, parquet or orc.
        message: Spark's message, in plain words.
    """
    if re.search(r"(?i)recursi", message):
        return TidemarkError(
            f"{file}: a record of its schema contains itself, and a table cannot have such a column.",
            f"Convert it to JSON lines: `fastavro {file} > {file.path.stem}.jsonl` (`pip install fastavro`).",
        )
    return TidemarkError(
        f"{file} cannot be read as {file_format.capitalize()}: {message}",
        "Replace the file, or write it again in a type and compression that Spark reads.",
    )
