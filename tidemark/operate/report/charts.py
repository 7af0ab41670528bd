"""The charts of a report, each from the numbers that its table shows; none where there is nothing to show."""

from __future__ import annotations

from collections import Counter

from rich.filesize import decimal

from tidemark.base.output import count_of
from tidemark.operate.report.attention import newest_of_models
from tidemark.operate.report.chart import Chart, Table, chart_of
from tidemark.operate.report.encodings import Datum
from tidemark.operate.report.facts import ModelPeriod, Report
from tidemark.operate.report.row_charts import labelled, map_of_periods
from tidemark.operate.report.time_charts import over_time, points_over_time
from tidemark.operate.report.words import plain, span

BLUE, ORANGE, RED, PURPLE = "var(--blue)", "var(--orange)", "var(--red)", "var(--purple)"
MOST_MODELS, MOST_BARS = 15, 15
SET_ASIDE = {"file": ("files", ORANGE), "record": ("records", PURPLE), "row": ("rows of silver", RED)}


def runs_over_time(report: Report) -> Chart | None:
    """How many runs succeeded and failed."""
    if not report.runs:
        return None
    spans = report.periods
    counts, seconds = Counter[tuple[int, bool]](), Counter[int]()
    for run in report.runs:
        period = int(run.started_at.timestamp() // spans.seconds)
        counts[period, run.succeeded] += 1
        seconds[period] += round(run.seconds)
    words = {True: "succeeded", False: "failed"}
    bars = [
        Datum(
            spans.label(period),
            words[good],
            number,
            f"{spans.label(period)}: {count_of(number, 'run')} {words[good]}",
        )
        for (period, good), number in sorted(counts.items())
    ]
    failed = sum(number for (_, good), number in counts.items() if not good)
    rows = [(spans.start(p), counts[p, True], counts[p, False], seconds[p]) for p in sorted(seconds)]
    return chart_of(
        "runs",
        f"Runs per {spans.words}, and how many failed",
        f"{count_of(len(report.runs), 'run')}, of which {failed:,} failed.",
        drawing=over_time(spans, bars, {"succeeded": BLUE, "failed": RED}, "runs", 110),
        table=Table(("from (UTC)", "succeeded", "failed", "seconds"), rows),
        note="A run that finds nothing new leaves no record and is not counted.",
    )


def run_times(report: Report) -> Chart | None:
    """How long the runs of each period took, the longest of each."""
    if not report.runs:
        return None
    spans, longest = report.periods, dict[tuple[int, bool], float]()
    for run in report.runs:
        key = int(run.started_at.timestamp() // spans.seconds), run.succeeded
        longest[key] = max(longest.get(key, 0.0), run.seconds)
    words = {True: "succeeded", False: "failed"}
    bars = [
        Datum(spans.label(p), words[good], seconds, f"{spans.label(p)}: {span(seconds)}, {words[good]}")
        for (p, good), seconds in sorted(longest.items())
    ]
    return chart_of(
        "run-times",
        f"Time of the longest run per {spans.words}",
        f"The longest run took {span(max(longest.values()))}.",
        drawing=points_over_time(
            spans, bars, {"succeeded": (BLUE, "circle"), "failed": (RED, "triangle-up")}, "seconds", 110
        ),
        table=Table(
            (
                "started (UTC)",
                "command",
                "seconds",
                "succeeded",
                "models written",
                "models failed",
                "tests failed",
            ),
            [
                (
                    r.started_at,
                    r.command,
                    r.seconds,
                    r.succeeded,
                    r.models_written,
                    r.models_failed,
                    r.tests_failed,
                )
                for r in report.runs[:100]
            ],
        ),
        note="The table has the newest 100 runs." if len(report.runs) > 100 else "",
    )


def model_times(report: Report) -> Chart | None:
    """In which periods each model took how long."""
    if not report.model_periods:
        return None
    spans, seconds, longest = report.periods, Counter[str](), dict[str, float]()
    runs, failed = Counter[str](), Counter[str]()
    for one in report.model_periods:
        seconds[one.model] += one.seconds  # type: ignore[assignment]
        longest[one.model] = max(longest.get(one.model, 0.0), one.longest)
        runs[one.model] += one.runs
        failed[one.model] += one.failed
    ranked = sorted(seconds, key=lambda model: (-seconds[model], model))
    shown = ranked[:MOST_MODELS]
    cells = [
        Datum(spans.label(one.period), one.model, one.seconds, _message(spans.label(one.period), one))
        for one in report.model_periods
        if one.model in shown
    ]
    newest = newest_of_models(report)
    rows = [
        (m, runs[m], failed[m], float(seconds[m]), longest[m], newest[m].last_at, newest[m].last_status)
        for m in ranked
    ]
    more = f" of {len(ranked)}" if len(ranked) > len(shown) else ""
    return chart_of(
        "model-times",
        f"Seconds of each model per {spans.words}",
        f"{shown[0]} took the longest: {span(seconds[shown[0]])} in {count_of(runs[shown[0]], 'run')}.",
        drawing=map_of_periods(
            spans, cells, {m: f"{plain(m)}: {span(seconds[m])} in all" for m in shown}, "seconds"
        ),
        table=Table(
            ("model", "runs", "failed", "seconds", "longest", "last run (UTC)", "status"),
            rows,
        ),
        note=f"The {count_of(len(shown), 'model')}{more} with the most seconds; a stronger colour is longer.",
    )


def _message(period: str, one: ModelPeriod) -> str:
    failed = f", {one.failed} failed" if one.failed else ""
    return f"{plain(one.model)}, {period}: {span(one.seconds)} in {count_of(one.runs, 'run')}{failed}"


def reasons(report: Report) -> Chart | None:
    """Why files, records and rows are set aside."""
    if not report.rejections:
        return None
    shown = report.rejections[:MOST_BARS]
    labels, bars = {}, []
    for number, one in enumerate(shown):
        part, name = SET_ASIDE[one.kind][0], str(number)
        labels[name] = f"{one.number:,} · {plain(one.place)}: {plain(one.reason)}"
        bars.append(
            Datum(name, part, one.number, f"{one.number:,} {part}: {plain(one.place)}: {plain(one.reason)}")
        )
    numbers = Counter[str]()
    for one in report.rejections:
        numbers[one.kind] += one.number
    message = ", ".join(
        f"{numbers[kind]:,} {words}" for kind, (words, _) in SET_ASIDE.items() if numbers[kind]
    )
    return chart_of(
        "reasons",
        "Files, records and rows that are set aside, by reason",
        f"Set aside: {message}.",
        drawing=labelled(bars, labels, dict(SET_ASIDE.values()), "number"),
        table=Table(
            ("what", "feed or table", "reason", "number", "landed after all", "one of the files"),
            [(o.kind, o.place, o.reason, o.number, o.replayed, o.example) for o in report.rejections],
        ),
        note="A file did not land; a record is in bronze as text; a row broke a rule of silver."
        + (
            f" The {MOST_BARS} most frequent of {len(report.rejections)}."
            if len(report.rejections) > MOST_BARS
            else ""
        ),
    )


def table_sizes(report: Report) -> Chart | None:
    """How large the tables are."""
    if not report.sizes:
        return None
    shown = report.sizes[:MOST_BARS]
    total, files = sum(one.bytes for one in report.sizes), sum(one.files for one in report.sizes)
    factor, unit = next(
        (factor, unit)
        for factor, unit in ((10**9, "gigabytes"), (10**6, "megabytes"), (10**3, "kilobytes"), (1, "bytes"))
        if shown[0].bytes >= factor or factor == 1
    )
    labels = {o.table: f"{plain(o.table)}: {decimal(o.bytes)} in {count_of(o.files, 'file')}" for o in shown}
    bars = [Datum(one.table, "bytes", one.bytes / factor, labels[one.table]) for one in shown]
    return chart_of(
        "sizes",
        "Size of the tables and number of their files",
        f"{count_of(len(report.sizes), 'table')}: {decimal(total)} in {count_of(files, 'file')}. "
        f"The largest is {shown[0].table} with {decimal(shown[0].bytes)}.",
        drawing=labelled(bars, labels, {"bytes": BLUE}, unit),
        table=Table(("table", "bytes", "files"), [(one.table, one.bytes, one.files) for one in report.sizes]),
        note="The newest version of each table; older versions take space until `tidemark maintain`."
        + (f" The {MOST_BARS} largest of {len(report.sizes)}." if len(report.sizes) > MOST_BARS else ""),
    )
