"""The numbers at the head of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.filesize import decimal

from tidemark.base.output import count_of, first_of
from tidemark.engine.verify.proofs import Share
from tidemark.engine.verify.slices import ruled_out
from tidemark.operate.report.attention import Point, newest_of_models
from tidemark.operate.report.balance import balances, total
from tidemark.operate.report.facts import Report
from tidemark.operate.report.words import span


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


def facts_of(report: Report, points: Sequence[Point]) -> list[Fact]:
    """Return the numbers in the order of the page."""
    rows = total(balances(report))
    states = [feed.state(report.made_at) for feed in report.feeds]
    late = sum(state in ("late", "stale", "never landed") for state in states)
    failing = sum(one.last_status == "error" for one in newest_of_models(report).values())
    waiting = sum(one.number - one.replayed for one in report.rejections if one.kind != "row")
    failed = sum(not run.succeeded for run in report.runs)
    rejected = rows.silver.get("rejected", 0)
    return [
        _last_run(report),
        _attention(points),
        Fact("Runs", f"{report.run_count:,}", f"{failed:,} failed"),
        Fact("Rows landed", f"{rows.landed:,}", f"{rejected:,} rejected by silver"),
        Fact("Feeds", f"{len(states):,}", f"{late:,} late or never landed", "warning" if late else ""),
        Fact("Models", f"{report.models:,}", f"{failing:,} failing", "error" if failing else ""),
        Fact("Set aside", f"{waiting:,}", "files and records that wait", "warning" if waiting else ""),
        Fact("Size", decimal(sum(one.bytes for one in report.sizes)), count_of(len(report.sizes), "table")),
        *([_proved(report.proved)] if report.proved else []),
    ]


def _last_run(report: Report) -> Fact:
    if not report.runs:
        return Fact("Last run", "none", "since the start of this report's time")
    last = report.runs[0]
    ago = span((report.made_at - last.started_at).total_seconds())
    note = f"{ago} ago, `dbt {last.command}` took {span(last.seconds)}"
    return (
        Fact("Last run", "succeeded", note, "good")
        if last.succeeded
        else Fact("Last run", "failed", note, "error")
    )


def _proved(share: Share) -> Fact:
    if share.differing:
        return Fact("Proved", "differs", f"rows of {first_of(share.differing)}", "error")
    tables = sum(number > 0 for number in share.slices.values())
    of = f"of the rows of {tables} of {count_of(len(share.slices), 'table')} within 7 days"
    note = "; ".join(filter(None, (of, ruled_out(share.rows))))
    return Fact("Proved", f"{share.percent:g} %", note)


def _attention(points: Sequence[Point]) -> Fact:
    if not points:
        return Fact("Attention", "0", "nothing to look at", "good")
    errors = sum(point.level == "error" for point in points)
    level = "error" if errors else "warning"
    return Fact("Attention", f"{len(points):,}", f"{count_of(errors, 'error')}, see below", level)
