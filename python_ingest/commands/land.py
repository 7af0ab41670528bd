"""Landing feeds of any kind, and what is printed of it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from python_ingest.console.interrupts import on_interrupt
from python_ingest.console.output import count_of, first_of, output
from python_ingest.errors import LandingError, SparkLostError, TidemarkError
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.files.acceptance import Landed
from python_ingest.files.failures import disk_full, is_disk_full, spark_is_lost, spark_lost
from python_ingest.files.landing import Lander
from python_ingest.files.progress import Progress, shown
from python_ingest.kafka.landing import LandedTopic, TopicLander
from python_ingest.lake.lock import lake_folder
from python_ingest.postgresql.landing import LandedTable, TableLander
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Outcome = Landed | LandedTable | LandedTopic
FOLLOW_SECONDS = 0.5


@dataclass(frozen=True)
class How:
    """What is asked of a landing besides.

    Attributes:
        replays: land what was rejected, instead of what is new; feeds of files alone have that.
        compares_all: look at all rows of tables again.
        accepts_loss: go on where messages of a topic were lost.
    """

    replays: bool = False
    compares_all: bool = False
    accepts_loss: bool = False


AS_EVER = How()


def land(
    spark: SparkSession,
    project: Project,
    feeds: Sequence[Feed],
    *,
    how: How = AS_EVER,
) -> list[Any]:
    """Land feeds and print a line for each; one that fails does not keep the others from landing.

    Args:
        spark: the session.
        project: the project.
        feeds: the feeds.
        how: what is asked for besides.

    Returns:
        The outcomes of the feeds that landed.

    Raises:
        LandingError: for a source that cannot be read, and whatever a feed's declaration forbids.
        SparkLostError: when Spark's JVM ends; no further feed is tried.
    """
    outcomes, failed = [], []
    if not feeds:
        output.text("  nothing to land: no feed is selected", "nothing_selected")
    for feed in feeds:
        started = time.monotonic()
        try:
            outcome = _land_one(spark, project, feed, how)
        except TidemarkError as error:
            if len(feeds) == 1 or isinstance(error, SparkLostError):
                raise
            failed.append((feed, error))
            output.note("not landed", f"{feed.table}: {error}", style="red", feed=feed.name)
            continue
        if outcome is not None:
            outcomes.append(outcome)
            _tell(feed, outcome, time.monotonic() - started)
    if failed:
        raise LandingError(
            f"{count_of(len(failed), 'feed')} failed to land: {', '.join(feed.name for feed, _ in failed)}.",
            "Fix the errors above and land again. What landed is kept; the rest continues from its mark.",
        )
    return outcomes


def follow(spark: SparkSession, project: Project, feeds: Sequence[Feed], how: How) -> None:
    """Land topics as their messages come, until the process is stopped.

    Raises:
        LandingError: when a feed is no topic, or one of the streams stops.
    """
    others = [feed.name for feed in feeds if not isinstance(feed, TopicFeed)]
    if others:
        raise LandingError(
            f"--follow works only for topics; it cannot follow {', '.join(others)}.",
            "Name only feeds of topics; land the others on a schedule.",
        )
    landers = [_topic_lander(spark, project, feed, how) for feed in feeds if isinstance(feed, TopicFeed)]
    streams = [
        lander.start(follows=True, told=partial(_tell, feed, seconds=0.0))
        for lander, feed in zip(landers, feeds, strict=True)
    ]
    output.text(f"  following {', '.join(feed.name for feed in feeds)}; Ctrl-C stops", "following")
    try:
        with on_interrupt(signal.default_int_handler):
            while all(stream.isActive for stream in streams):
                time.sleep(FOLLOW_SECONDS)
    except KeyboardInterrupt:
        output.text("  stopped; the next landing continues from there", "stopped")
    else:
        for lander, stream in zip(landers, streams, strict=True):
            if not stream.isActive:
                lander.finish(stream)
    finally:
        for stream in streams:
            stream.stop()


def _land_one(spark: SparkSession, project: Project, feed: Feed, how: How) -> Outcome | None:
    if isinstance(feed, FileFeed):
        with shown(spark, feed.name, output) as progress, _watched(spark, feed, progress):
            lander = Lander(spark, feed, project.ops_schema, progress=progress)
            return lander.replay() if how.replays else lander.land()
    if how.replays:
        return None
    with output.status(f"landing {feed.name}"), _watched(spark, feed):
        if isinstance(feed, TopicFeed):
            return _topic_lander(spark, project, feed, how).land()
        assert isinstance(feed, TableFeed)  # noqa: S101  # there are no more kinds
        return TableLander(spark, feed, project.ops_schema, compares_all=how.compares_all).land()


@contextmanager
def _watched(spark: SparkSession, feed: Feed, progress: Progress | None = None) -> Iterator[None]:
    """Say it in a sentence if the disk is full, or if Spark's JVM ends."""
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        if spark_is_lost(spark):
            raise spark_lost(feed.name, [file.path for file in progress.batch] if progress else []) from error
        if is_disk_full(error):
            raise disk_full(feed.name, feed.table, str(lake_folder())) from error
        raise


def _topic_lander(spark: SparkSession, project: Project, feed: TopicFeed, how: How) -> TopicLander:
    return TopicLander(spark, feed, project.ops_schema, accepts_loss=how.accepts_loss)


def _tell(feed: Feed, outcome: Outcome, seconds: float) -> None:
    if isinstance(outcome, Landed):
        facts: dict[str, Any] = {"files": outcome.files, "rows": outcome.rows, "known": outcome.known}
        output.row("landed", feed.table, _files_landed(outcome), seconds, **facts)
    else:
        said = _table_landed(outcome) if isinstance(outcome, LandedTable) else _topic_landed(outcome)
        output.row("landed", feed.table, said, seconds, **asdict(replace(outcome, settled=None)))
    if not isinstance(outcome, LandedTopic):
        for column in outcome.evolved:
            output.note("evolved", f"{feed.table}.{column}: see ops.schema_changes", column=column)
        for column, files in outcome.missing.items():
            said = f"{feed.table}.{column} is NULL: not in {first_of(files)}"
            output.note("missing column", said, column=column, paths=files)
    if outcome.settled:
        event = "lost rows" if outcome.settled.lost else "checked"
        output.note(event, outcome.settled.message, decision=outcome.settled.decision)
    if isinstance(outcome, Landed):
        _tell_files(outcome)
    elif isinstance(outcome, LandedTable):
        _tell_table(outcome)
    elif outcome.broken:
        said = f"{count_of(outcome.broken, 'message')} cannot be decoded: see ops.rejected_records"
        output.note("broken", said, messages=outcome.broken)


def _tell_files(outcome: Landed) -> None:
    if outcome.broken:
        said = f"{count_of(outcome.broken, 'record')} cannot be read: see ops.rejected_records"
        output.note("broken", said, records=outcome.broken)
    for path, reason in outcome.rejected.items():
        output.note("set aside", f"{path}: {reason}", path=path)
    for path in outcome.ignored:
        output.note("ignored", f"{path}: changed after it was landed", path=path)
    for path in outcome.unsettled:
        output.note("left for the next run", f"{path}: still being written", path=path)


def _tell_table(outcome: LandedTable) -> None:
    if outcome.since:
        output.note(
            "first window", f"from {outcome.since:%Y-%m-%d %H:%M} UTC on; older rows land when they change"
        )
    if outcome.without_cursor:
        number = (
            "1,000 or more rows"
            if outcome.without_cursor == 1000
            else count_of(outcome.without_cursor, "row")
        )
        output.note(
            "left out",
            f"{number} without a cursor value: add a second column to `cursor`, or remove `cursor`",
        )
    if outcome.still_open:
        output.note(
            "still open",
            "a transaction was still running; the first landing after its end reads what it wrote",
        )


def _files_landed(outcome: Landed) -> str:
    parts = _resumed(outcome.resumed)
    if outcome.files:
        parts.append(f"{count_of(outcome.files, 'file')} landed, {count_of(outcome.rows, 'row')}")
    if outcome.replayed:
        parts.append(f"{count_of(outcome.replayed, 'rejected record')} landed")
    if outcome.waiting:
        parts.append(f"{count_of(outcome.waiting, 'record')} still rejected")
    if not parts:
        parts.append("nothing new")
    if outcome.known:
        parts.append(f"{count_of(outcome.known, 'file')} known")
    return ", ".join(parts)


def _table_landed(outcome: LandedTable) -> str:
    parts = _resumed(outcome.resumed)
    if outcome.rows:
        parts.append(f"{count_of(outcome.rows, 'row')} landed")
    if outcome.deleted:
        parts.append(f"{outcome.deleted:,} deleted")
    if not parts:
        parts.append("nothing new, skipped")
    if outcome.unchanged:
        parts.append(f"{outcome.unchanged:,} checked again")
    if outcome.until:
        parts.append(f"up to {outcome.until:%Y-%m-%d %H:%M:%S}")
    return ", ".join(parts)


def _topic_landed(outcome: LandedTopic) -> str:
    said = f"{count_of(outcome.messages, 'message')} landed" if outcome.messages else "nothing new, skipped"
    return f"{said}, up to {outcome.until:%Y-%m-%d %H:%M:%S}" if outcome.until else said


def _resumed(batch: int | None) -> list[str]:
    return [f"finished batch {batch} of an earlier run"] if batch else []
