"""The sections of the page: charts, and tables without a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidemark.operate.report.balance import balance_charts, balances, total
from tidemark.operate.report.chart import Chart, Table
from tidemark.operate.report.charts import (
    model_times,
    reasons,
    run_times,
    runs_over_time,
    table_sizes,
)
from tidemark.operate.report.facts import Report
from tidemark.operate.report.feed_charts import freshness, lateness

WHY = "Which records of files, tables and topics a row was made from"


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        charts: its charts.
        caption, table: a table beside them.
    """

    title: str
    charts: list[Chart]
    caption: str = ""
    table: Table | None = None


def sections_of(report: Report) -> list[Section]:
    """Return the sections that have something to show."""
    rows = balance_charts(report)
    changes = _changes(report)
    newest, number = len(report.schema_changes), report.schema_change_count
    caption = "Columns of bronze that changed" + (
        f": the newest {newest} of {number:,}" if newest < number else ""
    )
    sections = [
        Section("Runs", _drawn(report, runs_over_time, run_times)),
        Section("Rows through the layers", rows, "All periods together", _sums(report) if rows else None),
        Section("Models and tables", _drawn(report, model_times, table_sizes), WHY, _commands(report)),
        Section("Feeds", _drawn(report, freshness, lateness)),
        Section("Set aside and changed", _drawn(report, reasons), caption, changes),
    ]
    return [section for section in sections if section.charts or section.table]


def _commands(report: Report) -> Table | None:
    """Return the commands that follow a row of each table to the records that it was made from."""
    rows = [
        (table, " ".join(["tidemark why", table, *(f"{name}=…" for name in key)]))
        for table, key in report.keys.items()
    ]
    return Table(("table", "command"), rows) if rows else None


def _drawn(report: Report, *functions: Callable[[Report], Chart | None]) -> list[Chart]:
    return [chart for function in functions if (chart := function(report))]


def _sums(report: Report) -> Table:
    """Return what became of the rows; below the first line of a layer, its parts, which add up to it."""
    return Table(("layer", "rows", "number"), list(_lines(report)))


def _lines(report: Report) -> Iterator[tuple[object, ...]]:
    sums = total(balances(report))
    yield "bronze", "landed", sums.landed
    for layer, first, parts in (("silver", "read", sums.silver), ("gold", "changed", sums.gold)):
        yield layer, first, sum(parts.values())
        yield from (("", name, rows) for name, rows in parts.items() if rows)


def _changes(report: Report) -> Table | None:
    columns = ("recorded (UTC)", "feed", "change", "column", "from", "to", "first file")
    rows = [
        (
            one.recorded_at,
            one.feed,
            one.change.replace("_", " "),
            one.column,
            one.from_type,
            one.to_type,
            one.path,
        )
        for one in report.schema_changes
    ]
    return Table(columns, rows) if rows else None
