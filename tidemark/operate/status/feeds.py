"""The feeds: how far each has landed, its age and its lag, and what was set aside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr

from python_ingest.bronze.lost_rows import doubt_in
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.files.storage import Storage
from python_ingest.kafka.topic import topic_of
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.erasures import REASON
from python_ingest.ops.ingested_batches import Batches
from python_ingest.ops.left_out import LeftOut
from tidemark.base.clock import Clock, utc_now, utc_time
from tidemark.base.connections import connection
from tidemark.base.errors import DeclarationError, TidemarkError
from tidemark.base.output import count_of
from tidemark.lake.table_format import table_exists
from tidemark.operate.status.freshness import Limits, limits_of
from tidemark.operate.status.level import Level, highest
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class FeedStatus:
    """The state of a feed.

    Attributes:
        feed: the feed's name.
        kind: the kind of its source; `invalid` if its declaration is.
        source: the location of its source; of an invalid declaration, its file.
        landed_at: when rows last landed.
        last_processed_at: the source's time up to which the feed has landed; for files, the newest file's.
        rows: rows landed.
        seconds_behind: seconds since `last_processed_at`; None before the first landing and for topics.
        messages_behind: messages of a topic that have not landed; None for others, or if no broker answers.
        rejected_records: broken records that have not been replayed.
        rejected_files: files set aside.
        left_out: files below the location that match no pattern; None if it is not a readable folder.
        level: by the limits of its age, what was set aside, and whether bronze may lack rows.
        problem: what is wrong, in words; empty for nothing.
    """

    feed: str
    kind: str
    source: str
    landed_at: datetime | None
    last_processed_at: datetime | None
    rows: int
    seconds_behind: float | None
    messages_behind: int | None
    rejected_records: int
    rejected_files: int
    left_out: LeftOut | None
    level: Level
    problem: str


@dataclass(frozen=True)
class _Landed:
    rows: int = 0
    batch: int = 0
    last_processed_at: datetime | None = None
    landed_at: datetime | None = None


def feed_states(spark: SparkSession, project: ProjectWithFeeds, clock: Clock = utc_now) -> list[FeedStatus]:
    """Return the states of all feeds, sorted by name."""
    landed = {
        **_landed(spark, f"{project.ops_schema}.ingested_batches", "max(last_processed_at)"),
        **_landed(spark, f"{project.ops_schema}.ingested_files", "max(modified_at)"),
    }
    waiting = f"replayed_batch is null and reason <> '{REASON}'"
    records = _counts(spark, f"{project.ops_schema}.rejected_records", waiting)
    files = _rejected_files(spark, f"{project.ops_schema}.ingested_files")
    sources = project.manifest.sources.values() if project.manifest else ()
    limits = {source.name: limits_of(source) for source in sources}
    found = []
    for feed in project.feeds.values():
        known = landed.get(feed.name, _Landed())
        is_topic = isinstance(feed, TopicFeed)
        behind = _messages_behind(spark, project, feed) if isinstance(feed, TopicFeed) else None
        age = clock() - known.landed_at if known.landed_at else None
        left_out = _left_out(spark, feed, clock()) if isinstance(feed, FileFeed) else None
        problems = {
            "late" if age else "never landed": limits.get(feed.name, Limits()).level(age),
            f"{count_of(files.get(feed.name, 0), 'file')} set aside": _warning(feed.name in files),
            left_out.message if left_out else "": _warning(left_out and left_out.files),
            "no broker answers": _warning(is_topic and behind is None),
            **_doubts(_doubt(spark, project, feed, known.batch)),
        }
        processed = None if is_topic else known.last_processed_at
        found.append(
            FeedStatus(
                feed.name,
                *_kind(feed),
                landed_at=known.landed_at,
                last_processed_at=known.last_processed_at,
                rows=known.rows,
                seconds_behind=(clock() - processed).total_seconds() if processed else None,
                messages_behind=behind,
                rejected_records=records.get(feed.name, 0),
                rejected_files=files.get(feed.name, 0),
                left_out=left_out,
                level=highest(problems.values()),
                problem="; ".join(problem for problem, level in problems.items() if level),
            )
        )
    found += [_invalid(name, error, landed.get(name, _Landed())) for name, error in project.invalid.items()]
    return sorted(found, key=lambda state: state.feed)


def _invalid(name: str, error: DeclarationError, known: _Landed) -> FeedStatus:
    """Return the state of a feed whose declaration is invalid, so that it cannot land."""
    return FeedStatus(
        name,
        kind="invalid",
        source=error.file,
        landed_at=known.landed_at,
        last_processed_at=known.last_processed_at,
        rows=known.rows,
        seconds_behind=None,
        messages_behind=None,
        rejected_records=0,
        rejected_files=0,
        level=Level.ERROR,
        left_out=None,
        problem=f"its declaration is invalid: {error.what}",
    )


def _left_out(spark: SparkSession, feed: FileFeed, now: datetime) -> LeftOut | None:
    try:
        return Storage(spark, feed).left_out(now)
    except TidemarkError:
        return None


def _warning(there_is_one: object) -> Level:
    return Level.WARNING if there_is_one else Level.OK


def _kind(feed: Feed) -> tuple[str, str]:
    if isinstance(feed, FileFeed):
        return feed.external.file_format, feed.external.location
    if isinstance(feed, TopicFeed):
        return "kafka", f"{feed.external.connection}, {feed.external.topic}"
    assert isinstance(feed, TableFeed)  # noqa: S101  # there are no other kinds
    return "postgresql", f"{feed.external.connection}, {feed.external.source}"


def _doubts(doubt: str | None) -> dict[str, Level]:
    return {f"landed rows may be gone ({doubt}); `tidemark land` checks them": _warning(doubt)}


def _doubt(spark: SparkSession, project: ProjectWithFeeds, feed: Feed, batch: int) -> str | None:
    """Return why rows that landed up to a batch may be missing from bronze."""
    if not batch:
        return None
    if not table_exists(spark, feed.table):
        return f"{feed.table} does not exist"
    checks = BronzeChecks(spark, project.ops_schema, feed.name)
    doubt = doubt_in(spark, BronzeTable(spark, feed), checks, batch)
    return doubt.cause if doubt else None


def _landed(spark: SparkSession, table: str, newest: str) -> dict[str, _Landed]:
    if not table_exists(spark, table):
        return {}
    sums = {
        "rows": "coalesce(sum(row_count), 0)",
        "batch": "max(batch_id)",
        "processed": f"unix_micros({newest})",
        "landed": "unix_micros(max(recorded_at))",
    }
    landed = spark.table(table).where("state = 'landed'").groupBy("feed")
    rows: Any = landed.agg(*(expr(sql).alias(name) for name, sql in sums.items())).collect()
    return {
        row["feed"]: _Landed(
            row["rows"], row["batch"], *(_time(row[name]) for name in ("processed", "landed"))
        )
        for row in rows
    }


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else utc_time(micros)


def _counts(spark: SparkSession, table: str, condition: str) -> dict[str, int]:
    if not table_exists(spark, table):
        return {}
    counted = spark.table(table).where(condition).groupBy("feed").count().collect()
    return {row["feed"]: row["count"] for row in counted}


def _rejected_files(spark: SparkSession, table: str) -> dict[str, int]:
    if not table_exists(spark, table):
        return {}
    newest = spark.table(table).groupBy("feed", "path").agg(expr("max_by(state, _sequence) as state"))
    counted = newest.where("state = 'rejected'").groupBy("feed").count().collect()
    return {row["feed"]: row["count"] for row in counted}


def _messages_behind(spark: SparkSession, project: ProjectWithFeeds, feed: TopicFeed) -> int | None:
    """Return the number of messages of a topic that have not landed; None if no broker answers."""
    try:
        to = connection(feed.external.connection, "kafka")
        ends = topic_of(feed.name, to, feed.external.topic).ends
    except TidemarkError:
        return None
    mark = Batches(spark, project.ops_schema, feed.name, feed.external.topic).state.mark or {}
    return sum(max(0, end - int(mark.get(str(partition), 0))) for partition, end in ends.items())
