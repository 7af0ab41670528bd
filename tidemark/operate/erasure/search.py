"""Search files for texts: their bytes, and what is compressed in them.

Parquet is read column by column; gz, zstd, bz2, lz4 and xz files, zip archives, workbooks and the blocks of
Avro files are decompressed.
Logs and manifests keep only the beginning of a long value, so a beginning is searched there.
"""

from __future__ import annotations

import json
import lzma
import mmap
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tidemark.base.distribution import pip_install
from tidemark.base.errors import TidemarkError
from tidemark.lake.jvm import each, java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHORTEST = 6  # characters; a shorter value is in almost every file by chance
BEGINNING = 16  # characters: Iceberg's bounds keep 16, Delta's statistics 32
LOGS = ("_delta_log", "metadata")
CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}


# Arrow's errors are of the first kinds, too; an encrypted archive raises a RuntimeError
UNREADABLE = (
    EOFError,
    OSError,
    ValueError,
    IndexError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,
)

Files = Iterator[tuple[PurePosixPath, Path | None]]


@dataclass
class Searched:
    """The result of a search.

    Attributes:
        files: the number of files.
        hits: the files in which a text was found, or that could not be searched, each with what it was.
    """

    files: int = 0
    hits: list[str] = field(default_factory=list)


def searchable(values: Sequence[str]) -> list[str]:
    """Return the values that are long enough to be searched in bytes."""
    return sorted({value for value in values if len(value) >= SHORTEST})


def search(place: str, files: Files, texts: Sequence[str]) -> Searched:
    """Search files and their names, which are below a place.

    Args:
        place: a folder or a URL.
        files: from `files_below` or `copies_of`.
        texts: from `searchable`.

    Raises:
        TidemarkError: if pyarrow is not installed.
    """
    found = Searched()
    whole = {form for text in texts for form in forms_of(text)}
    beginnings = {form for text in texts for form in forms_of(text[:BEGINNING])}
    for name, path in files:
        needles = beginnings if any(part in LOGS for part in name.parts) else whole
        if any(needle in str(name).encode() for needle in whole):
            found.hits.append(f"the name of a file in {place}/{name.parent}")
        found.files += path is not None
        if path and needles and (hit := _hit(path, needles)):
            found.hits.append(f"{place}/{name} ({hit})")
    return found


def files_below(folder: Path) -> Files:
    """Yield the name of each file and folder below a folder, and the path of a file."""
    for path in sorted(folder.rglob("*")):
        is_read = path.is_file() and not path.is_symlink()
        yield PurePosixPath(path.relative_to(folder)), path if is_read else None


def copies_of(spark: SparkSession, url: str) -> Files:
    """Yield the name of each file below a URL, and a copy of it that is there until the next one.

    Args:
        spark: a session with a JVM.
        url: the place, in any file system that Hadoop knows.
    """
    path_of = java_class(spark, "org.apache.hadoop.fs.Path")
    session: Any = spark._jsparkSession
    place = path_of(url)
    system = place.getFileSystem(session.sessionState().newHadoopConf())
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for file in each(system.listFiles(place, True)):
            system.copyToLocalFile(False, file.getPath(), path_of(copy.as_uri()), True)
            yield PurePosixPath(str(file.getPath()).removeprefix(f"{place}/")), copy
            copy.unlink()


def forms_of(text: str) -> Iterator[bytes]:
    """Yield a text as it may be written: plain, and in JSON, which may be a value of JSON again."""
    for plain in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield plain.encode()
        yield json.dumps(plain)[1:-1].encode()


def _hit(path: Path, needles: set[bytes]) -> str | None:
    if not path.stat().st_size:
        return None
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if any(data.find(needle) >= 0 for needle in needles):
                return "its bytes"
            for what, content in _contents(path, data):
                if any(needle in content for needle in needles):
                    return what
    except UNREADABLE as error:
        return f"it cannot be read: {type(error).__name__}"
    return None


def _contents(path: Path, data: mmap.mmap) -> Iterator[tuple[str, bytes]]:
    """Yield what is compressed in a file."""
    head = data[:4]
    codec = next((name for magic, name in CODECS.items() if head.startswith(magic)), None)
    if head == b"PAR1":
        yield from _parquet(path)
    elif head == b"Obj\x01":
        yield from _avro(path)
    elif head == b"PK\x03\x04":
        yield from _zip(path)
    elif head == b"\xfd7zX":
        yield "decompressed by xz", lzma.decompress(data[:])
    elif codec:
        with path.open("rb") as file, _imported("pyarrow").CompressedInputStream(file, codec) as stream:
            yield f"decompressed by {codec}", stream.read()


def _zip(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an archive or a workbook, whose XML writes `&` as `&amp;`."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            yield f"its member {name}", content
            if b"&" in content:
                yield f"its member {name}", unescape(content.decode("utf-8", "replace")).encode()


def _parquet(path: Path) -> Iterator[tuple[str, bytes]]:
    parquet = _imported("pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                yield f"its column {name}", _text(column)


def _text(column: Any) -> bytes:
    """Return the values of a column, one after the other: the buffers of texts, else the values in words."""
    types = _imported("pyarrow.types")
    if types.is_string(column.type) or types.is_binary(column.type):
        return bytes(column.buffers()[2] or b"")
    if types.is_primitive(column.type) and not types.is_decimal(column.type):
        column = column.cast("string")
        return bytes(column.buffers()[2] or b"")
    return "\n".join(str(value) for value in column.to_pylist()).encode()


def _avro(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the decompressed blocks of an Avro file."""
    with path.open("rb") as file:
        for block in _imported("fastavro").block_reader(file):
            yield "a block of Avro", block.bytes_.getvalue()


def _imported(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise TidemarkError(
            f"The proof reads files with {module.partition('.')[0]}, which is not installed.",
            f"Install it with `{pip_install('erase')}`.",
        ) from None
