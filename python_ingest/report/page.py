"""The page: one HTML file without scripts and without anything from a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from python_ingest.console.output import count_of
from python_ingest.report import charts, feed_charts
from python_ingest.report.attention import Point, newest_of_models, points_of
from python_ingest.report.balance import balance_charts, balances, total
from python_ingest.report.chart import Chart, Table
from python_ingest.report.facts import Report
from python_ingest.report.words import plain, size, span


@dataclass(frozen=True)
class Fact:
    """A number at the head of the page.

    Attributes:
        level: `good`, `warning`, `error`, or nothing for a number that is neither.
    """

    name: str
    value: str
    note: str
    level: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    title: str
    text: str
    charts: list[Chart]
    table: Table | None = None


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("python_ingest.report"),
        autoescape=True,  # names and reasons come from files
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.policies["json.dumps_kwargs"] = {"default": datetime.isoformat}
    environment.filters.update(plain=plain, time=lambda time: f"{time:%Y-%m-%d %H:%M:%S}")
    environment.tests["time"] = lambda value: isinstance(value, datetime)
    return environment


def page_of(report: Report) -> str:
    """Return the page of a report as HTML.

    Args:
        report: what it tells; its texts may be hostile.
    """
    points = points_of(report)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            facts=_facts(report, points),
            points=points,
            sections=[] if report.is_empty else _sections(report),
            data=asdict(report),
        )
    )


def _facts(report: Report, points: list[Point]) -> list[Fact]:
    runs, balance = report.runs, total(balances(report))
    states = [feed.state(report.made_at) for feed in report.feeds]
    late = sum(state in ("late", "stale", "never landed") for state in states)
    failing = sum(one.last_status == "error" for one in newest_of_models(report).values())
    aside = sum(one.number - one.replayed for one in report.rejections if one.kind != "row")
    failed = sum(not run.succeeded for run in runs)
    facts = []
    if runs:
        last, ago = runs[0], span((report.made_at - runs[0].started_at).total_seconds())
        said = "succeeded" if last.succeeded else "failed"
        note = f"{ago} ago, `dbt {last.command}` took {span(last.seconds)}"
        facts.append(Fact("Last run", said, note, "good" if last.succeeded else "error"))
    else:
        facts.append(Fact("Last run", "none", "in the time of this report"))
    level = "error" if any(point.level == "error" for point in points) else "warning" if points else "good"
    return [
        *facts,
        Fact(
            "Attention",
            f"{len(points):,}" if points else "nothing",
            "see below" if points else "all is well",
            level,
        ),
        Fact("Runs", f"{report.run_count:,}", f"{failed:,} failed"),
        Fact("Feeds", f"{len(states):,}", f"{late:,} late or never landed", "warning" if late else ""),
        Fact(
            "Models",
            f"{report.models:,}",
            f"{failing:,} failed in their last run",
            "error" if failing else "",
        ),
        Fact(
            "Rows landed", f"{balance.landed:,}", f"{balance.silver.get('rejected', 0):,} rejected by silver"
        ),
        Fact("Waiting", f"{aside:,}", "files and records set aside", "warning" if aside else ""),
        Fact("Size", size(sum(one.bytes for one in report.sizes)), count_of(len(report.sizes), "table")),
    ]


def _sections(report: Report) -> list[Section]:
    changes = Table(
        ("recorded (UTC)", "feed", "change", "column", "from", "to", "first file"),
        [
            (c.recorded_at, c.feed, c.change.replace("_", " "), c.column, c.from_type, c.to_type, c.path)
            for c in report.schema_changes
        ],
    )
    newest = len(report.schema_changes) < report.schema_change_count
    said = (
        f"The newest {len(report.schema_changes)} of {report.schema_change_count:,} changes."
        if newest
        else ""
    )
    sections = [
        Section("Runs", "", _drawn(report, charts.runs_over_time, charts.run_times)),
        Section("Rows through the layers", _equation(report), balance_charts(report)),
        Section("Models", "", _drawn(report, charts.model_times)),
        Section("Feeds", "", _drawn(report, feed_charts.freshness, feed_charts.lateness)),
        Section("Set aside", "", _drawn(report, charts.reasons)),
        Section("Tables", "", _drawn(report, charts.table_sizes)),
        Section("Schema changes", said, [], changes if changes.rows else None),
    ]
    return [section for section in sections if section.charts or section.table]


def _drawn(report: Report, *functions: Callable[[Report], Chart | None]) -> list[Chart]:
    return [chart for function in functions if (chart := function(report))]


def _equation(report: Report) -> str:
    """Return the sums over the report's time, as a sentence that adds up."""
    sums = total(balances(report))
    parts = [f"{rows:,} {name}" for name, rows in sums.silver.items() if rows]
    read = f" Silver read {count_of(sums.read, 'row')} = {' + '.join(parts)}." if parts else ""
    gold = [f"{rows:,} {name}" for name, rows in sums.gold.items() if rows]
    changed = (
        f" Other models changed {count_of(sum(sums.gold.values()), 'row')} = {' + '.join(gold)}."
        if gold
        else ""
    )
    return f"{count_of(sums.landed, 'row')} landed in bronze.{read}{changed}"
