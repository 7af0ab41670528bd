"""What became of the rows in each layer: landed in bronze, accounted for by silver, changed in gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tidemark.operate.report.chart import Chart, Table, chart_of
from tidemark.operate.report.encodings import Datum
from tidemark.operate.report.facts import CHANGES, OUTCOMES, REJECTED, Report
from tidemark.operate.report.time_charts import over_time

UNACCOUNTED, UNCOMPARED = "not accounted for", "not compared"
COLOURS = {
    "inserted": "var(--blue)",
    "updated": "var(--sky)",
    "deleted": "var(--purple)",
    "unchanged": "var(--grey)",
    "superseded": "var(--orange)",
    "rejected": "var(--red)",
    UNACCOUNTED: "currentColor",
    UNCOMPARED: "var(--green)",
}


@dataclass(frozen=True)
class Balance:
    """The rows of one period, or of all.

    Attributes:
        landed: rows that landed in bronze.
        read: rows that silver has read from bronze; a full refresh reads all again.
        silver: what became of them: OUTCOMES; UNACCOUNTED if a row has none; UNCOMPARED if rejected rows
            were not counted. The sum is `read`.
        gold: rows that other models changed, by CHANGES.
    """

    landed: int
    read: int
    silver: dict[str, int]
    gold: dict[str, int]


def balances(report: Report) -> dict[int, Balance]:
    """Return the rows of each period in which something landed or was read.

    Only models with a `rejected_*` model beside them account for each row they read: these are silver.
    """
    landed = Counter[int]()
    for landing in report.landings:
        landed[landing.period] += landing.rows
    silver_models = report.silver
    rejecting = {model.replace(".", f".{REJECTED}") for model in silver_models}
    found = {}
    for period in sorted({*landed, *(one.period for one in report.model_periods)}):
        models = [one for one in report.model_periods if one.period == period]
        silver = [one for one in models if one.model in silver_models]
        others = [one for one in models if one.model not in silver_models | rejecting]
        kept = {name: sum(one.rows[name] for one in silver) for name in OUTCOMES}
        kept[UNACCOUNTED] = sum(one.unaccounted for one in silver)
        kept[UNCOMPARED] = sum(one.uncompared for one in silver)
        gold = {name: sum(one.rows[name] for one in others) for name in CHANGES}
        found[period] = Balance(landed[period], sum(kept.values()), kept, gold)
    return found


def total(periods: dict[int, Balance]) -> Balance:
    """Return the sums over periods."""
    silver, gold = Counter[str](), Counter[str]()
    for one in periods.values():
        silver.update(one.silver)
        gold.update(one.gold)
    landed, read = (sum(getattr(one, name) for one in periods.values()) for name in ("landed", "read"))
    return Balance(landed, read, dict(silver), dict(gold))


def balance_charts(report: Report) -> list[Chart]:
    """Return a chart for each layer in which rows moved."""
    found = balances(report)
    spans = report.periods
    charts = []
    layers = (
        (
            "landed",
            "Bronze: rows landed",
            ("landed",),
            {p: {"landed": one.landed} for p, one in found.items()},
        ),
        (
            "silver",
            "Silver: what became of the rows it read",
            (*OUTCOMES, UNACCOUNTED, UNCOMPARED),
            {p: one.silver for p, one in found.items()},
        ),
        ("gold", "Gold: rows changed", CHANGES, {p: one.gold for p, one in found.items()}),
    )
    for name, title, parts, rows in layers:
        sums = Counter[str]()
        for one in rows.values():
            sums.update(one)
        shown = [part for part in parts if sums[part]]
        if not shown:
            continue
        bars = [
            Datum(spans.label(p), part, one[part], f"{spans.label(p)}: {one[part]:,} {part}")
            for p, one in rows.items()
            for part in shown
            if one.get(part)
        ]
        colours = {part: COLOURS.get(part, "var(--green)") for part in shown}
        table = [
            (spans.start(p), *(one.get(part, 0) for part in shown), sum(one.values()))
            for p, one in rows.items()
        ]
        charts.append(
            chart_of(
                name,
                f"{title} per {spans.words}",
                ", ".join(f"{sums[part]:,} rows {part}" for part in shown) + ".",
                drawing=over_time(spans, bars, colours, "rows", 120),
                table=Table(("from (UTC)", *shown, "all"), [row for row in table if row[-1]]),
            )
        )
    return charts
