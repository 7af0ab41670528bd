"""The file formats: one registration each. CONTRIBUTING.md shows how to add one."""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from python_ingest.feeds.external_files import (
    AnyFiles,
    CsvExternal,
    ExcelExternal,
    JsonExternal,
    TypedExternal,
)


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    Attributes:
        title: its name in messages.
        external: the model of the `external:` block of its feeds.
        reader: the class that reads its files, as `module:Class`: a `Format` of `files/formats/base.py`.
        endings: the endings of file names by which `tidemark add` recognizes it.
        magic: the first bytes of its files; empty for text.
        holds_text: whether all values are text, so that bronze keeps text.
        is_compressed: whether its files are compressed inside, so that they land without `.gz` around them.
    """

    title: str
    external: type[AnyFiles]
    reader: str
    endings: tuple[str, ...]
    magic: bytes = b""
    holds_text: bool = False
    is_compressed: bool = False

    @property
    def has_types(self) -> bool:
        """True if the files contain their columns and types."""
        return self.external is TypedExternal

    def load_reader(self) -> Any:
        """Import the reader, which needs Spark, and return its class."""
        return resolve_name(self.reader)


def _typed(title: str, ending: str, magic: bytes) -> FileFormat:
    reader = "python_ingest.files.formats.typed:Typed"
    return FileFormat(title, TypedExternal, reader, (ending,), magic, is_compressed=True)


FILE_FORMATS = {
    "csv": FileFormat(
        "CSV",
        CsvExternal,
        "python_ingest.files.formats.csv:Csv",
        ("csv", "tsv", "txt", "tab", "psv", "dat", "data"),
        holds_text=True,
    ),
    "json": FileFormat(
        "JSON", JsonExternal, "python_ingest.files.formats.json:Json", ("json", "jsonl", "ndjson")
    ),
    "excel": FileFormat(  # workbooks are converted to CSV files before they are read
        "Excel",
        ExcelExternal,
        "python_ingest.files.formats.csv:Csv",
        ("xlsx", "xlsm", "xlsb", "xls", "ods"),
        holds_text=True,
        is_compressed=True,
    ),
    "avro": _typed("Avro", "avro", b"Obj\x01"),
    "orc": _typed("ORC", "orc", b"ORC"),
    "parquet": _typed("Parquet", "parquet", b"PAR1"),
}
BY_ENDING = {ending: name for name, one in FILE_FORMATS.items() for ending in one.endings}
