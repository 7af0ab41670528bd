"""List the files of a feed with Hadoop's file system API: local, HDFS, object stores."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.paths import COPIED, DOCUMENTS, regex_of, regex_of_any
from python_ingest.feeds.source_file import SourceFile, source_file
from python_ingest.files.failures import innermost
from python_ingest.files.unlisted import unlisted
from python_ingest.ops.left_out import LeftOut, left_out_of, measures
from tidemark.base.errors import LandingError
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrameReader, SparkSession

LOCAL = "file:"
NUL = "\x00"  # no path contains it
LISTED = "path string, length bigint, isDir boolean, modificationTime bigint"


def read_files(reader: DataFrameReader, file_format: str, files: Sequence[SourceFile]) -> DataFrame:
    """Read files with one of Spark's readers.

    The paths go to the JVM as one text, because the list that PySpark sends takes one call per path.

    Args:
        reader: the reader, with its options set.
        file_format: the format name for `DataFrameReader.format`.
        files: at least one.
    """
    spark: Any = reader._spark
    paths = spark._jvm.java.util.regex.Pattern.compile(NUL).split(NUL.join(file.glob for file in files))
    return DataFrame(reader.format(file_format)._jreader.load(paths), spark)


def hadoop_path(spark: SparkSession, file: SourceFile) -> Any:
    """Return the file's path as a Hadoop object, built from a URI so that any name is valid."""
    jvm: Any = spark.sparkContext._jvm
    return jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file.uri))


class Storage:
    """The location of one feed.

    Args:
        spark: the session whose Hadoop configuration is used.
        feed: the feed.

    Attributes:
        root: the location as Hadoop prints it, with a trailing `/`.
    """

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._feed = feed
        self._hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
        root = jvm.org.apache.hadoop.fs.Path(feed.external.location)
        self._fs = root.getFileSystem(self._hadoop)
        self._root = self._fs.makeQualified(root)
        self.root = f"{str(self._root.toString()).rstrip('/')}/"
        self._unlisted: dict[str, str] = {}
        self._real_folders: dict[str, bool] = {}

    def listing(self, now: datetime, *, settled: bool = True) -> DataFrame:
        """List the feed's files, in Spark's tasks: `path`, `whole`, `size`, `modified_at`, `is_left_out`.

        Files that neither the feed's pattern nor another feed selects are left out; documents are not named.
        It skips names that begin with `_` or `.` (folders too), unfinished copies, and files younger than
        `settle`: they may still be written. It includes local files that Hadoop does not list, because
        `unsafe` returns why they cannot be read.

        Args:
            now: the current time, UTC.
            settled: False to include the files younger than `settle`.

        Raises:
            LandingError: if the location does not exist or is not a folder.
        """
        self._check_location()
        settle = self._feed.external.settle
        young = f.col("modified_at") > f.lit(now - timedelta(seconds=settle))
        return (
            self._with_unlisted(self._listed())
            .where(~f.col("isDir"))
            .select(
                f.col("path").substr(len(self.root) + 1, 2**30).alias("path"),
                f.col("path").alias("whole"),
                f.col("length").alias("size"),
                f.timestamp_millis("modificationTime").alias("modified_at"),
            )
            .withColumn("is_left_out", ~f.rlike("path", f.lit(regex_of(self._feed.external.pattern))))
            .where(~f.col("is_left_out") | ~self._is_meant_to_stay())
            .where(~self._is_excluded())
            .where(~f.endswith("path", f.lit(COPIED)))
            .where(~young if settle and settled else f.lit(True))  # a store's clock may be ahead of this one
        )

    def left_out(self, now: datetime) -> LeftOut:
        """Return the files that no feed lands.

        Args:
            now: the current time, UTC.

        Raises:
            LandingError: as `listing` does.
        """
        row: Any = self.listing(now).selectExpr(*measures("is_left_out")).first()
        return left_out_of(row)

    def find(self, listing: DataFrame, paths: Sequence[str]) -> dict[str, SourceFile]:
        """Return the files of a listing whose path is in `paths`."""
        wanted = local_rows(self._spark, "path string", [(path,) for path in paths])
        found = listing.where("not is_left_out").join(f.broadcast(wanted), on="path", how="left_semi")
        rows = found.select("path", "whole", "size", f.unix_micros("modified_at")).collect()
        return {row["path"]: source_file(*row) for row in rows}

    def unsafe(self, file: SourceFile) -> str | None:
        """Return why a file must not or cannot be opened, such as a link to another place; None if it can.

        Links to folders are not followed: they may form a loop, or lead to files that have another path.
        """
        if not file.whole.startswith(LOCAL) or file.path in self._unlisted:
            return self._unlisted.get(file.path)
        if ":" in os.path.basename(file.path):
            return "its name contains a colon, which Hadoop does not allow in local files: rename it"
        root = self._real_root
        folder = os.path.join(root, os.path.dirname(file.path)).rstrip("/")
        path = os.path.join(folder, os.path.basename(file.path))
        if os.path.islink(path):
            path = os.path.realpath(path)
            if not path.startswith(os.path.join(root, "")):
                return "a link to a place outside the location"
        if not self._is_real(folder):
            return "in a folder that is a link"
        return None if os.path.isfile(path) else "not a regular file"

    def _is_excluded(self) -> Column:
        patterns = self._feed.external.exclude
        return f.rlike("path", f.lit(regex_of_any(patterns))) if patterns else f.lit(False)

    def _is_meant_to_stay(self) -> Column:
        """Return whether a file that does not match the pattern is a document or belongs to another feed."""
        is_document = f.rlike("path", f.lit(DOCUMENTS))
        for claim in self._feed.claims:
            path = f.concat(f.lit(claim.above), "path") if claim.above else f.col("path")
            is_document |= f.rlike(path, f.lit(claim.regex))
        return is_document

    @cached_property
    def _real_root(self) -> str:
        """The location with links resolved, if it is local."""
        return os.path.realpath(self.root.removeprefix(LOCAL))

    def _is_real(self, folder: str) -> bool:
        """Return whether neither the folder nor any folder above it is a link; the result is cached."""
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder) == folder
        return self._real_folders[folder]

    def _check_location(self) -> None:
        location = self._feed.external.location
        try:
            is_there = self._fs.exists(self._root)
        except Py4JJavaError as error:
            raise LandingError(
                f"Feed '{self._feed.name}': its location {location} cannot be read: {innermost(error)}",
                "Check the address, the network and the credentials (for s3a:// AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY in the environment).",
            ) from error
        if not is_there:
            raise LandingError(
                f"Feed '{self._feed.name}': its location {location} does not exist.",
                f"Create the folder, or correct external.location in {self._feed.declared_in}.",
            )
        if not self._fs.getFileStatus(self._root).isDirectory():
            raise LandingError(
                f"Feed '{self._feed.name}': its location {location} is a file, not a folder.",
                f"Set the folder in {self._feed.declared_in}, and select its files by `pattern`.",
            )

    def _with_unlisted(self, listed: DataFrame) -> DataFrame:
        """Add the local files that Hadoop does not list, and remember the reasons."""
        if not self.root.startswith(LOCAL):
            return listed
        encoding = codecs.lookup(self._jvm.java.lang.System.getProperty("sun.jnu.encoding")).name
        found = [*unlisted(self.root.removeprefix(LOCAL), encoding)]
        self._unlisted = {file.path: file.reason for file in found}
        if not found:
            return listed
        rows = [(f"{self.root}{file.path}", file.size, False, file.modified_ms) for file in found]
        return listed.unionByName(local_rows(self._spark, LISTED, rows))

    def _listed(self) -> DataFrame:
        """List all files below the location, with the function that Delta's VACUUM uses."""
        operations = self._jvm.org.apache.spark.sql.delta.util.DeltaFileOperations
        settings = self._jvm.org.apache.spark.util.SerializableConfiguration(self._hadoop)
        found = operations.recursiveListDirs(
            self._spark._jsparkSession,
            self._jvm.PythonUtils.toSeq([str(self._root.toString())]),
            self._spark.sparkContext._jsc.broadcast(settings),
            getattr(operations, "recursiveListDirs$default$4")(),
            getattr(operations, "recursiveListDirs$default$5")(),
            getattr(operations, "recursiveListDirs$default$6")(),
            True,
        )
        return DataFrame(found.toDF(), self._spark)
