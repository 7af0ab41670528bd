"""The progress of a landing: files, rows, bytes, rate, time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from rich.filesize import decimal
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Live
from rich.table import Column

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
        share: the share of the batch that Spark has done, 0 to 1.
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
    share: float = 0.0
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
        self.batch, self.batch_bytes, self.share = (), 0, 0.0
        if self.output and self.bytes_done < self.bytes:
            self.output.text(f"  {self.message}", "progress", feed=self.feed, **self.facts)

    @property
    def facts(self) -> dict[str, float]:
        """Landed and total files and bytes, landed rows, bytes per second, and seconds left."""
        done = self.bytes_done + int(self.batch_bytes * self.share)
        rate = done / max(time.monotonic() - self._started, 0.001)
        return {
            "files": self.files_done,
            "files_of": self.files,
            "bytes": done,
            "bytes_of": self.bytes,
            "rows": self.rows_done,
            "bytes_per_second": round(rate),
            "seconds_left": round((self.bytes - done) / rate) if rate else 0,
        }

    @property
    def message(self) -> str:
        facts = self.facts
        return (
            f"{self.feed}: {self.files_done:,} of {self.files:,} files, {decimal(int(facts['bytes']))} of "
            f"{decimal(self.bytes)}, {self.rows_done:,} rows, {decimal(int(facts['bytes_per_second']))}/s, "
            f"about {facts['seconds_left']:,.0f} s left"
        )

    @property
    def short_message(self) -> str:
        """The message without the rows, for a terminal of 80 columns."""
        facts = self.facts
        return (
            f"{self.feed} {self.files_done:,}/{self.files:,} files, {decimal(int(facts['bytes']))} of "
            f"{decimal(self.bytes)}, {decimal(int(facts['bytes_per_second']))}/s, "
            f"{facts['seconds_left']:,.0f} s left"
        )


class Shown:
    """Shows the feeds that are landing: on a terminal, a bar for each that moves with Spark's tasks.

    Args:
        spark: the session.
        output: where to show them.
    """

    def __init__(self, spark: SparkSession, output: Output) -> None:
        self._spark, self._output = spark, output
        bar = BarColumn(10, table_column=Column(min_width=10, no_wrap=True))
        text = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
        self._bars = Live(bar, text, console=output.console, transient=True)
        self._is_live = output.console.is_terminal and not output.as_json
        self._landing: dict[TaskID, Progress] = {}
        self._mutex = threading.Lock()
        self._stopped = threading.Event()
        self._poller = threading.Thread(target=self._poll, daemon=True)

    def __enter__(self) -> Shown:
        if self._is_live:
            self._bars.start()
            self._poller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._is_live:
            self._poller.join()
            self._bars.stop()

    @contextmanager
    def feed(self, name: str) -> Iterator[Progress]:
        """Yield the progress of a feed, which this thread lands within the block."""
        progress = Progress(name, self._output)
        with suppress(Py4JError, OSError):  # without Spark the landing fails, and says so
            self._spark.sparkContext.setJobGroup(_group(name), f"landing {name}")
        with self._mutex:
            task = self._bars.add_task(name, total=None)
            self._landing[task] = progress
        try:
            yield progress
        finally:
            with self._mutex:
                del self._landing[task]
                self._bars.remove_task(task)

    def _poll(self) -> None:
        while not self._stopped.wait(POLL_SECONDS):
            with self._mutex:
                landing = [*self._landing.items()]
            for _, progress in landing:
                progress.share = _share_of_tasks(self._spark, _group(progress.feed))
            with self._mutex:
                for task, progress in landing:
                    if task in self._landing and progress.bytes:
                        done = int(progress.facts["bytes"])
                        text = progress.short_message
                        self._bars.update(task, completed=done, total=progress.bytes, description=text)


def _group(feed: str) -> str:
    """Return the group of the jobs that land a feed."""
    return f"landing {feed}"


def _share_of_tasks(spark: SparkSession, group: str) -> float:
    """Return the completed share of the tasks of a group's jobs, 0 to 1; 0 if Spark does not answer."""
    try:
        tracker = spark.sparkContext.statusTracker()
        running = {*tracker.getJobIdsForGroup(group)} & {*tracker.getActiveJobsIds()}
        jobs = [tracker.getJobInfo(job) for job in running]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    except (Py4JError, OSError):
        return 0.0
    tasks = sum(stage.numTasks for stage in stages if stage)
    return sum(stage.numCompletedTasks for stage in stages if stage) / tasks if tasks else 0.0
