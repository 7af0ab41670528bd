"""Where unpacked files are until their batch has landed: a folder of the lake, which all of Spark sees."""

from __future__ import annotations

import os
import re
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.feeds.paths import as_uri, spellings
from python_ingest.feeds.source_file import SourceFile
from tidemark.lake.jvm import java_class
from tidemark.lake.place import lake_location

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

FOLDER = "unpacked"
LOCAL = "file:"
NOT_IN_NAMES = re.compile(
    r"[\x00-\x20%+:\\\x7f]"
)  # no file system or reader treats other characters specially


class Staging:
    """The unpacked files of one feed.

    A file's path in the folder is `<number>.<time>/<path>`: the time and the path are those that its rows
    have in bronze.

    Args:
        spark: the session.
        table: the feed's bronze table, `schema.name`.
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        self._place = f"{lake_location()}/{FOLDER}/{table}"
        self._number = 0
        self._is_used = False

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    @property
    def is_used(self) -> bool:
        """Whether there are unpacked files."""
        return self._is_used

    def work_folder(self) -> str | None:
        """Return the local folder for files that are moved here; None for any folder."""
        if not self._is_used:
            self._is_used = True
            self._delete()  # what a killed landing left
        if self._local:
            self._local.mkdir(parents=True, exist_ok=True)
        return str(self._local) if self._local else None

    def add(self, unpacked: Path, of: SourceFile, source: str, *, is_plain: bool) -> SourceFile:
        """Move an unpacked file here.

        Args:
            unpacked: the file.
            of: the file of the feed from which it comes.
            source: the path that its rows have in `_source_file`.
            is_plain: whether the file is not compressed, whatever its name says.

        Returns:
            The file as Spark reads it; its path is unique among all files.
        """
        size = unpacked.stat().st_size
        self._number += 1
        name = NOT_IN_NAMES.sub(lambda sign: f"%{ord(sign[0]):02X}", source)
        if is_plain:  # Spark looks at the ending of the name
            name = re.sub(r"\.([^./]*)\Z", r"%2E\1", name)
        path = f"{self._number}.{round(of.modified_at.timestamp() * 1000)}/{name}"
        self._put(unpacked, path)
        return SourceFile(f"{FOLDER}/{path}", f"{self.root}{path}", size, of.modified_at)

    def clear(self) -> None:
        """Delete the unpacked files, if there are any."""
        if self._is_used:
            self._delete()
            self._is_used = False

    @cached_property
    def root(self) -> str:
        """The folder as Hadoop prints it, with a trailing `/`."""
        return f"{self._system.makeQualified(self._path(self._place)).toString()}/"

    @cached_property
    def _local(self) -> Path | None:
        return Path(self.root.removeprefix(LOCAL)) if self.root.startswith(LOCAL) else None

    @cached_property
    def _system(self) -> Any:
        context: Any = self._spark.sparkContext
        return self._path(self._place).getFileSystem(context._jsc.hadoopConfiguration())

    def _path(self, place: str) -> Any:
        return java_class(self._spark, "org.apache.hadoop.fs.Path")(place)

    def columns(self, source_file: Column, modified_at: Column) -> tuple[Column, Column]:
        """Return `_source_file` and `_source_modified_at` of rows: of unpacked files from their URI.

        Args:
            source_file, modified_at: the values for rows of other files.
        """
        uri = f.col("_uri")
        for root in spellings(as_uri(self.root)):
            is_here = f.startswith(uri, f.lit(root))
            rest = f.substr(uri, f.lit(len(root) + 1))
            numbers = f.substring_index(rest, "/", 1)
            path = f.substr(rest, f.char_length(numbers) + 2)
            millis = f.substring_index(numbers, ".", -1).cast("bigint")
            source_file = f.when(is_here, f.url_decode(f.url_decode(path))).otherwise(source_file)
            modified_at = f.when(is_here, f.timestamp_millis(millis)).otherwise(modified_at)
        return source_file, modified_at

    def _put(self, unpacked: Path, path: str) -> None:
        if self._local:
            target = self._local / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(unpacked, target)
        else:
            local, target_path = self._path(unpacked.as_uri()), self._path(f"{self.root}{path}")
            self._system.copyFromLocalFile(True, True, local, target_path)

    def _delete(self) -> None:
        if self._local:
            shutil.rmtree(self._local, ignore_errors=True)
        else:
            self._system.delete(self._path(self.root), True)
