"""`tidemark list`: the feeds, how far each has landed, and its lag behind the source."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr
from rich.table import Table

from python_ingest.bronze.lost_rows import doubt_in
from python_ingest.bronze.table import BronzeTable
from python_ingest.clock import Clock, utc_now, utc_time
from python_ingest.console.output import count_of, output
from python_ingest.errors import TidemarkError
from python_ingest.feeds.connections import connection
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.kafka.topic import topic_of
from python_ingest.lake.table_format import table_exists
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.ingested_batches import Batches
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTHING = "–"


@dataclass(frozen=True)
class Listed:
    """A feed in the list.

    Attributes:
        feed: the feed's name.
        kind: the kind of its source.
        source: the location of its source.
        last_processed_at: the source's time up to which the feed has landed; for files, the newest file's.
        rows: rows landed.
        lag: the lag behind the source, in words.
        doubt: why landed rows may be missing from bronze, according to its commits; None if all are there.
    """

    feed: str
    kind: str
    source: str
    last_processed_at: datetime | None
    rows: int
    lag: str
    doubt: str | None = None


def listed(spark: SparkSession, project: Project, clock: Clock = utc_now) -> list[Listed]:
    """Return all feeds, sorted by name."""
    files = _sums(spark, f"{project.ops_schema}.ingested_files", "max(modified_at)")
    batches = _sums(spark, f"{project.ops_schema}.ingested_batches", "max(last_processed_at)")
    found = []
    for feed in project.feeds.values():
        known = files if isinstance(feed, FileFeed) else batches
        rows, batch, last = known.get(feed.name, (0, 0, None))
        kind, source = _kind(feed)
        if isinstance(feed, TopicFeed):
            lag = _messages_behind(spark, project, feed)
        else:
            lag = in_words(clock() - last) if last else NOTHING
        found.append(Listed(feed.name, kind, source, last, rows, lag, _doubt(spark, project, feed, batch)))
    return found


def show_feeds(spark: SparkSession, project: Project) -> None:
    """Print the feeds."""
    feeds = listed(spark, project)
    if output.as_json:
        for feed in feeds:
            output.text(feed.feed, "feed", **asdict(feed))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 4, 0, 0))
    for name, side in (
        ("feed", "left"),
        ("kind", "left"),
        ("last processed (UTC)", "left"),
        ("rows", "right"),
    ):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_column("lag")
    for feed in feeds:
        last = f"{feed.last_processed_at:%Y-%m-%d %H:%M:%S}" if feed.last_processed_at else NOTHING
        table.add_row(feed.feed, f"{feed.kind}: {feed.source}", last, f"{feed.rows:,}", feed.lag)
    output.console.print(table)
    for feed in feeds:
        if feed.doubt:
            said = f"landed rows of {feed.feed} may be gone ({feed.doubt}); `tidemark land` checks them"
            output.note("bronze changed", said)


def _kind(feed: Feed) -> tuple[str, str]:
    if isinstance(feed, FileFeed):
        return feed.external.file_format, feed.external.location
    if isinstance(feed, TopicFeed):
        return "kafka", f"{feed.external.connection}, {feed.external.topic}"
    assert isinstance(feed, TableFeed)  # noqa: S101  # there are no other kinds
    return "postgresql", f"{feed.external.connection}, {feed.external.source}"


def _doubt(spark: SparkSession, project: Project, feed: Feed, batch: int) -> str | None:
    """Return why rows that landed up to a batch may be missing from bronze."""
    if not batch:
        return None
    if not table_exists(spark, feed.table):
        return f"{feed.table} does not exist"
    checks = BronzeChecks(spark, project.ops_schema, feed.name)
    doubt = doubt_in(spark, BronzeTable(spark, feed), checks, batch)
    return doubt.cause if doubt else None


def _sums(spark: SparkSession, table: str, newest: str) -> dict[str, tuple[int, int, datetime | None]]:
    if not table_exists(spark, table):
        return {}
    landed = spark.table(table).where("state = 'landed'").groupBy("feed")
    sums = ("sum(row_count) as rows", "max(batch_id) as batch", f"unix_micros({newest}) as last")
    rows: Any = landed.agg(*map(expr, sums)).collect()
    return {
        row["feed"]: (
            row["rows"] or 0,
            row["batch"],
            utc_time(row["last"]) if row["last"] is not None else None,
        )
        for row in rows
    }


def _messages_behind(spark: SparkSession, project: Project, feed: TopicFeed) -> str:
    """Return the number of messages of a topic that have not landed."""
    try:
        to = connection(feed.external.connection, "kafka")
        ends = topic_of(feed.name, to, feed.external.topic).ends
    except TidemarkError:
        return "no broker answers"
    mark = Batches(spark, project.ops_schema, feed.name, feed.external.topic).state.mark or {}
    behind = sum(max(0, end - mark.get(str(partition), 0)) for partition, end in ends.items())
    return count_of(behind, "message")


def in_words(span: timedelta) -> str:
    """Return a span as `3 days`, `2 hours`, `5 minutes`, in the largest unit that fits."""
    for unit, seconds in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if span.total_seconds() >= seconds:
            return count_of(int(span.total_seconds() // seconds), unit)
    return "under a minute"
