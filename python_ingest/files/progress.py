"""The progress of a landing: files, rows, bytes, rate, time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from rich.filesize import decimal
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bar

from python_ingest.feeds.source_file import SourceFile
from tidemark.base.output import Output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.5


@dataclass
class Progress:
    """The progress of one feed's landing.

    Attributes:
        feed: the feed's name.
        files, bytes: what this run lands.
        files_done, bytes_done, rows_done: what has landed so far.
        batch: the files of the current batch.
        batch_bytes: their total size.
    """

    feed: str
    output: Output | None = None
    files: int = 0
    bytes: int = 0
    files_done: int = 0
    bytes_done: int = 0
    rows_done: int = 0
    batch: Sequence[SourceFile] = ()
    batch_bytes: int = 0
    _started: float = field(default_factory=time.monotonic)

    def plan(self, files: Sequence[SourceFile]) -> None:
        """Add files to what this run lands."""
        self.files += len(files)
        self.bytes += sum(file.size for file in files)

    def begin(self, files: Sequence[SourceFile]) -> None:
        """Start a batch."""
        self.batch = files
        self.batch_bytes = sum(file.size for file in files)

    def end(self, files: int, rows: int) -> None:
        """End a batch, with the number of its files and rows that landed."""
        self.files_done += files
        self.rows_done += rows
        self.bytes_done += self.batch_bytes
        self.batch, self.batch_bytes = (), 0
        if self.output and self.bytes_done < self.bytes:
            self.output.text(f"  {self.message}", "progress", feed=self.feed, **self.facts)

    @property
    def facts(self) -> dict[str, float]:
        """Landed and total files and bytes, landed rows, bytes per second, and seconds left."""
        rate = self.bytes_done / max(time.monotonic() - self._started, 0.001)
        return {
            "files": self.files_done,
            "files_of": self.files,
            "bytes": self.bytes_done,
            "bytes_of": self.bytes,
            "rows": self.rows_done,
            "bytes_per_second": round(rate),
            "seconds_left": round((self.bytes - self.bytes_done) / rate) if rate else 0,
        }

    @property
    def message(self) -> str:
        facts = self.facts
        return (
            f"{self.feed}: {self.files_done:,} of {self.files:,} files, {decimal(self.bytes_done)} of "
            f"{decimal(self.bytes)}, {self.rows_done:,} rows, {decimal(int(facts['bytes_per_second']))}/s, "
            f"about {facts['seconds_left']:,.0f} s left"
        )


@contextmanager
def shown(spark: SparkSession, feed: str, output: Output) -> Iterator[Progress]:
    """Yield the progress of a landing; on a terminal, show a bar that moves with Spark's tasks."""
    progress = Progress(feed, output)
    if output.as_json or not output.console.is_terminal:
        yield progress
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    stopped = threading.Event()
    with Bar(
        TextColumn("landing {task.description}"), *columns, console=output.console, transient=True
    ) as bar:
        task = bar.add_task(feed, total=None)

        def poll() -> None:
            while not stopped.wait(POLL_SECONDS):
                done = progress.bytes_done + int(progress.batch_bytes * _share_of_tasks(spark))
                message = (
                    f"{feed}, {progress.files_done:,}/{progress.files:,} files, {progress.rows_done:,} rows"
                )
                bar.update(task, completed=done, total=progress.bytes or None, description=message)

        poller = threading.Thread(target=poll, daemon=True)
        poller.start()
        try:
            yield progress
        finally:
            stopped.set()
            poller.join()


def _share_of_tasks(spark: SparkSession) -> float:
    """Return the completed share of the active stages' tasks, 0 to 1; 0 if Spark does not answer."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except (Py4JError, OSError):
        return 0.0
    tasks = sum(stage.numTasks for stage in stages if stage)
    return sum(stage.numCompletedTasks for stage in stages if stage) / tasks if tasks else 0.0
