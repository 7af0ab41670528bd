"""`tidemark status`: feeds, tables and the last run, for people and for monitors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from rich.filesize import decimal
from rich.table import Table

from tidemark.base.output import count_of, first_of, output
from tidemark.cli.opening import opened_to_read
from tidemark.engine.decision.costs import Choices
from tidemark.engine.project.session import warm_session
from tidemark.engine.verify.proofs import Share
from tidemark.engine.verify.slices import ruled_out
from tidemark.operate.status.feeds import FeedStatus
from tidemark.operate.status.lake import LakeStatus, lake_status
from tidemark.operate.status.level import Level
from tidemark.operate.status.metrics import write_metrics
from tidemark.operate.status.runs import RunStatus
from tidemark.operate.status.tables import TableStatus
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTHING = "–"
DIFFERS = "rows differ from a rebuild: `tidemark verify` shows them, `--repair` writes what differs"
EXIT_CODES = {Level.OK: 0, Level.WARNING: 4, Level.ERROR: 5}
STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.ERROR: "red"}
FEED_COLUMNS = {
    "feed": "left",
    "source": "left",
    "last processed (UTC)": "left",
    "rows": "right",
    "lag": "left",
}
TABLE_COLUMNS = {
    "table": "left",
    "last run (UTC)": "left",
    "wrote": "right",
    "rejected": "right",
    "behind": "left",
    "files": "right",
    "size": "right",
}


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    openmetrics: Annotated[
        Optional[Path],
        typer.Option(
            "--openmetrics", help="Also write metrics for Prometheus to this file.", resolve_path=True
        ),
    ] = None,
) -> None:
    """Show feeds, tables and the last run; exits with 4 for warnings and 5 for errors."""
    lakehouse = opened_to_read()
    spark = warm_session(lakehouse.root, may_be_remote=True)
    raise typer.Exit(show_status(spark, lakehouse, as_json=as_json, metrics=openmetrics))


def show_status(
    spark: SparkSession, project: ProjectWithFeeds, *, as_json: bool, metrics: Path | None
) -> int:
    """Print the state of the lake.

    Args:
        spark: the session.
        project: the project.
        as_json: whether to print one JSON object.
        metrics: a file for Prometheus; None for none.

    Returns:
        The exit code: one of EXIT_CODES.
    """
    with output.status("reading the state of the lake"):
        lake = lake_status(spark, project)
    if metrics:
        write_metrics(metrics, lake)
    if as_json or output.as_json:
        print(json.dumps(asdict(lake), default=_plain))
    else:
        _show(lake)
    return EXIT_CODES[lake.level]


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _show(lake: LakeStatus) -> None:
    _print(FEED_COLUMNS, [_feed_row(feed) for feed in lake.feeds])
    _print(TABLE_COLUMNS, [_table_row(table) for table in lake.tables])
    if lake.run:
        output.console.print(f"last run: {_run_text(lake.run)}\n")
    if lake.choices.runs:
        output.console.print(f"{choices_text(lake.choices)}\n")
    if lake.proved:
        output.console.print(f"{proved_text(lake.proved)}\n")
    problems = [
        *((feed.level, feed.feed, feed.problem) for feed in lake.feeds),
        *((table.level, table.table, table.problem) for table in lake.tables),
        *([(lake.run.level, "last run", lake.run.problem)] if lake.run else []),
        *((Level.ERROR, table, DIFFERS) for table in (lake.proved.differing if lake.proved else ())),
    ]
    names: dict[tuple[Level, str], list[str]] = {}
    for level, name, problem in sorted(problems, key=lambda one: -one[0]):
        if level:
            names.setdefault((level, problem), []).append(name)
    for (level, problem), those in names.items():
        output.note(str(level), f"{first_of(those)}: {problem}", style=STYLES[level])
    if not lake.level:
        output.console.print("  no problems", style=STYLES[Level.OK])


def choices_text(found: Choices) -> str:
    """Return how many runs took the cheaper of two measured ways, in words.

    Args:
        found: what the newest runs took.
    """
    text = f"cheaper way: {found.right} of the {count_of(found.runs, 'newest run')} that can be compared"
    worst = sorted(found.dearer, key=lambda name: (-found.dearer[name], name))
    return f"{text}; dearer: {first_of(worst)}" if worst else text


def proved_text(share: Share) -> str:
    """Return how much of the tables was proved of late, in words."""
    never = sorted(name for name, number in share.slices.items() if not number)
    tables = count_of(len(share.slices) - len(never), "table")
    text = f"proved within 7 days: {share.percent:g} % of the rows of {tables}"
    parts = [text, *([f"nothing of {first_of(never)}"] if never else [])]
    if not share.differing:
        parts.append(ruled_out(share.rows))
    return "; ".join(filter(None, parts))


def _print(columns: dict[str, Any], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name, side in columns.items():
        table.add_column(name, justify=side)
    for row in rows:
        table.add_row(*row)
    output.console.print(table)
    output.console.print()


def _feed_row(feed: FeedStatus) -> list[str]:
    if feed.messages_behind is not None:
        lag = count_of(feed.messages_behind, "message")
    else:
        lag = NOTHING if feed.seconds_behind is None else in_words(timedelta(seconds=feed.seconds_behind))
    source = f"{feed.kind}: {feed.source}"
    return [feed.feed, source, _time(feed.last_processed_at), f"{feed.rows:,}", lag]


def _table_row(table: TableStatus) -> list[str]:
    behind = NOTHING
    if table.seconds_behind is not None:
        age = in_words(timedelta(seconds=table.seconds_behind))
        behind = f"{count_of(table.versions_behind, 'version')}, {age}"
    return [
        table.table,
        _time(table.last_run_at),
        _number(table.rows_written),
        _number(table.rows_rejected),
        behind,
        f"{table.files:,}",
        decimal(table.bytes),
    ]


def _run_text(run: RunStatus) -> str:
    counts = run.counts
    return (
        f"{_time(run.started_at)}, dbt {run.command}, {run.seconds:.1f} s: "
        f"{count_of(counts['models_written'], 'table')} written, {counts['models_unchanged']} unchanged, "
        f"{counts['models_failed']} failed, {counts['models_skipped']} skipped; "
        f"{count_of(counts['tests_passed'], 'test')} passed, {counts['tests_failed']} failed"
    )


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else NOTHING


def _number(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def in_words(span: timedelta) -> str:
    """Return a span as `3 days`, `2 hours`, `5 minutes`, in the largest unit that fits."""
    for unit, seconds in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if span.total_seconds() >= seconds:
            return count_of(int(span.total_seconds() // seconds), unit)
    return "under a minute"
