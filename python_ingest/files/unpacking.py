"""Unpack what Spark cannot read: archives, workbooks, and large JSON arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.external_excel import ExcelOptions
from python_ingest.feeds.external_files import JsonOptions
from python_ingest.feeds.paths import IS_DOCUMENT, matcher
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files import archives
from python_ingest.files.archives import Budget
from python_ingest.files.content import GROWING, Content
from python_ingest.files.contents import Contents
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.formats.json import WHOLE_BYTES
from python_ingest.files.json_arrays import split_array
from python_ingest.files.parts import Part
from python_ingest.files.staging import LOCAL, Staging
from python_ingest.files.storage import hadoop_path
from python_ingest.files.workbooks import convert
from tidemark.base.archives import MEMBER
from tidemark.base.errors import PackedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPRESSED_BYTES = 2**20  # a smaller compressed array is read as one value


class Unpacker:
    """Unpacks the files of one feed.

    Args:
        spark: the session.
        feed: the declaration.
        contents: reads the unpacked files.
    """

    def __init__(self, spark: SparkSession, feed: FileFeed, contents: Contents) -> None:
        self._spark = spark
        self._feed = feed
        self._contents = contents
        self._excluded = matcher(feed.external.exclude)
        options = feed.external.options
        self._excel = options if isinstance(options, ExcelOptions) else None
        self._has_arrays = isinstance(options, JsonOptions) and options.whole_file
        self.staging = Staging(spark, feed.table)

    def read(self, files: Sequence[SourceFile], closely: Collection[str] = ()) -> dict[str, Content]:
        """Return the contents of files, of unpacked ones with their parts.

        Args:
            files: the files.
            closely: the paths of those that `Contents.read` looks at closely.
        """
        packed = [file for file in files if self._unpacks(file)]
        paths = {file.path for file in packed}
        plain = [file for file in files if file.path not in paths]
        return self._contents.read(plain, closely) | (self._read(packed, closely) if packed else {})

    def _unpacks(self, file: SourceFile) -> bool:
        limit = COMPRESSED_BYTES if self._contents.streams.unpacks(file) else WHOLE_BYTES
        is_large = self._has_arrays and file.size > limit
        return archives.is_packed(file.path) or self._excel is not None or is_large

    def _read(self, files: Sequence[SourceFile], closely: Collection[str]) -> dict[str, Content]:
        with TemporaryDirectory(dir=self.staging.work_folder()) as folder:
            found = {file.path: self._unpacked(file, Path(folder)) for file in files}
        staged = [part.file for content in found.values() for part in content.parts]
        closer = {part.file.path for path in closely if path in found for part in found[path].parts}
        read = self._contents.read(staged, closer) if staged else {}
        return {path: _with_contents(content, read) for path, content in found.items()}

    def _unpacked(self, file: SourceFile, folder: Path) -> Content:
        checksum = None
        try:
            with self._local(file, folder) as local:
                if local.stat().st_size != file.size:
                    return Content(error=GROWING)
                checksum = _checksum(local)
                parts = [
                    Part(staged, Content(), source) for staged, source in self._parts(file, local, folder)
                ]
            return Content(checksum, size=file.size, parts=tuple(parts))
        except PackedError as error:
            return Content(checksum, error=str(error))
        except FileNotFoundError:
            return Content(error=GROWING)
        except Py4JJavaError as error:
            return Content(error=in_plain_words(innermost(error)))

    def _parts(self, file: SourceFile, local: Path, folder: Path) -> Iterator[tuple[SourceFile, str]]:
        """Yield the files that are read, and their path in `_source_file`."""
        budget = Budget(self._feed.external.max_bytes)
        name = file.path.lower()
        if name.endswith(archives.ZIP):

            def leaves_out(member: str) -> bool:
                path = f"{file.path}{MEMBER}{member}"
                return bool(self._excluded.fullmatch(path) or IS_DOCUMENT.search(path))

            for member, unpacked in archives.unpack_zip(local, folder, leaves_out, budget):
                source = f"{file.path}{MEMBER}{member}"
                try:
                    yield from self._converted(file, source, unpacked, folder, is_plain=False)
                except PackedError as error:
                    raise PackedError(f"its member {member}: {error}") from error
        elif name.endswith(archives.XZ):
            unpacked = folder / "stream"
            archives.unpack_xz(local, unpacked, budget)
            yield from self._converted(file, file.path, unpacked, folder, is_plain=True)
        elif self._contents.streams.unpacks(file):
            unpacked = folder / "stream"
            self._contents.streams.decompress(file, unpacked)
            yield from self._converted(file, file.path, unpacked, folder, is_plain=True)
        else:
            yield from self._converted(file, file.path, local, folder, is_plain=True)

    def _converted(
        self, file: SourceFile, source: str, unpacked: Path, folder: Path, *, is_plain: bool
    ) -> Iterator[tuple[SourceFile, str]]:
        """Convert a workbook or divide a large array, and move the result to the staging folder."""
        target = folder / "converted"
        if self._excel:
            budget = Budget(self._feed.external.max_bytes)
            convert(unpacked, target, self._excel, budget, len(self._feed.columns))
            yield self.staging.add(target, file, source, is_plain=True), source
        elif self._has_arrays and unpacked.stat().st_size > WHOLE_BYTES:
            for array in split_array(unpacked):
                target.write_text(array, encoding="utf-8", newline="")
                yield self.staging.add(target, file, source, is_plain=True), source
        else:
            yield self.staging.add(unpacked, file, source, is_plain=is_plain), source

    @contextmanager
    def _local(self, file: SourceFile, folder: Path) -> Iterator[Path]:
        """Yield a file that Python can open: the file itself, or a copy of it."""
        if file.whole.startswith(LOCAL):
            yield Path(file.whole.removeprefix(LOCAL))
            return
        copy = folder / "copy"
        path = hadoop_path(self._spark, file)
        context: Any = self._spark.sparkContext
        with closing(path.getFileSystem(context._jsc.hadoopConfiguration()).open(path)) as stream:
            context._jvm.org.apache.commons.io.FileUtils.copyToFile(
                stream, context._jvm.java.io.File(str(copy))
            )
        yield copy
        copy.unlink(missing_ok=True)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while some := stream.read(archives.CHUNK):
            digest.update(some)
    return digest.hexdigest()


def _with_contents(content: Content, read: dict[str, Content]) -> Content:
    parts = tuple(Part(part.file, read[part.file.path], part.source) for part in content.parts)
    return Content(content.checksum, error=content.error, size=content.size, parts=parts)
