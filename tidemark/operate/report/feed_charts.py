"""The charts of feeds: how long ago each landed, against its limits, and how late its data was."""

from __future__ import annotations

from tidemark.base.output import count_of
from tidemark.operate.report.chart import Chart, Table, chart_of
from tidemark.operate.report.encodings import Datum
from tidemark.operate.report.facts import Feed, Report
from tidemark.operate.report.row_charts import spans
from tidemark.operate.report.words import plain, span

MOST_FEEDS = 20
BLUE, ORANGE, RED = "var(--blue)", "var(--orange)", "var(--red)"


def freshness(report: Report) -> Chart | None:
    """How long ago each feed landed."""
    ages = {f: age.total_seconds() for f in report.feeds if (age := f.age(report.made_at))}
    if not ages:
        return None
    data, lines = [], []
    for feed in sorted(ages, key=lambda feed: (-ages[feed], feed.name))[:MOST_FEEDS]:
        name = plain(feed.name)
        lines.append((name, 1.0, ages[feed]))
        data.append(Datum(name, "last landing", ages[feed], f"{name}: last landed {span(ages[feed])} ago"))
        limits = (("warn after", feed.limits.warn_after), ("error after", feed.limits.error_after))
        for part, limit in limits:
            if limit:
                at = limit.total_seconds()
                data.append(Datum(name, part, at, f"{name}: {part} {span(at)}"))
    shapes = {
        "last landing": (BLUE, "circle"),
        "warn after": (ORANGE, "triangle-up"),
        "error after": (RED, "diamond"),
    }
    over = [feed.name for feed in ages if feed.state(report.made_at) in ("late", "stale")]
    return chart_of(
        "freshness",
        "Time since each feed last landed, and its limits",
        f"{count_of(len(ages), 'feed')}, of which {len(over)} landed longer ago than their limit.",
        drawing=spans(data, shapes, lines),
        table=Table(
            ("feed", "table", "kind", "rows", "last landing (UTC)", "state", "warn after", "error after"),
            [_row(report, feed) for feed in report.feeds],
        ),
        note="The limits are `freshness` of the sources in their YAML." + _more(len(ages)),
    )


def _row(report: Report, feed: Feed) -> tuple[object, ...]:
    limits = (feed.limits.warn_after, feed.limits.error_after)
    words = [span(limit.total_seconds()) if limit else None for limit in limits]
    return (feed.name, feed.table, feed.kind, feed.rows, feed.landed_at, feed.state(report.made_at), *words)


def lateness(report: Report) -> Chart | None:
    """How late each feed landed."""
    late = {feed: feed.lateness for feed in report.feeds if feed.lateness}
    if not late:
        return None
    shown = sorted(late, key=lambda feed: (-late[feed].high, feed.name))
    data, lines, rows = [], [], []
    for feed in shown:
        name, one = plain(feed.name), late[feed]
        message = f"{name}: half within {span(one.median)}, 90 % within {span(one.high)}"
        lines.append((name, one.least, one.most))
        data += [Datum(name, "median", one.median, message), Datum(name, "90 %", one.high, message)]
        data.append(Datum(name, "latest", one.most, message))
        rows.append((feed.name, one.landings, one.least, one.median, one.high, one.most))
    first = {plain(feed.name) for feed in shown[:MOST_FEEDS]}
    shapes = {"median": (BLUE, "circle"), "90 %": (ORANGE, "triangle-up"), "latest": (RED, "diamond")}
    return chart_of(
        "lateness",
        "How late data landed: from its source's time to its landing",
        f"The feed {shown[0].name} is the latest: 90 % of its landings within {span(late[shown[0]].high)}.",
        drawing=spans(
            [m for m in data if m.at in first], shapes, [line for line in lines if line[0] in first]
        ),
        table=Table(("feed", "landings", "least (s)", "median (s)", "90 % (s)", "latest (s)"), rows),
        note="The time of a file is when it was last modified; that of a table or topic, its newest row's. "
        "Median and 90 % are approximate." + _more(len(late)),
    )


def _more(number: int) -> str:
    return f" The {MOST_FEEDS} latest of {number} feeds." if number > MOST_FEEDS else ""
