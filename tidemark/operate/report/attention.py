"""What needs attention, the worst first; each point with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from tidemark.base.output import count_of, first_of
from tidemark.maintain.small_files import has_small_files
from tidemark.operate.report.facts import Feed, ModelPeriod, Report
from tidemark.operate.report.words import span
from tidemark.operate.status.level import Level


@dataclass(frozen=True)
class Point:
    """Something that needs attention.

    Attributes:
        level: `error`: something failed or is missing; `warning`: it works, but look at it.
        what: what is so, one sentence.
        fix: what to do, one sentence.
    """

    level: Literal["error", "warning"]
    what: str
    fix: str


def points_of(report: Report) -> list[Point]:
    """Return what needs attention, errors first."""
    found = [*_runs(report), *_feeds(report), *_set_aside(report), *_tables(report), *_differing(report)]
    return sorted(found, key=lambda point: point.level != "error")


def _differing(report: Report) -> Iterator[Point]:
    for table in report.proved.differing if report.proved else ():
        yield Point(
            "error",
            f"Rows of {table} differ from a rebuild.",
            "`tidemark verify` shows them, and `tidemark verify --repair` writes what differs.",
        )


def newest_of_models(report: Report) -> dict[str, ModelPeriod]:
    """Return the newest period of each model with a run."""
    return {one.model: one for one in sorted(report.model_periods, key=lambda one: one.last_at)}


def _runs(report: Report) -> Iterator[Point]:
    failing = [one for one in newest_of_models(report).values() if one.last_status == "error"]
    for one in sorted(failing, key=lambda one: one.model):
        message = (one.last_message or "no message").strip().splitlines()
        yield Point(
            "error",
            f"{one.model} failed in its last run: {' '.join(line.strip() for line in message[:3])}",
            "Correct it and run again; logs/dbt.log has the whole message.",
        )
    last = report.runs[0] if report.runs else None
    if last and not last.succeeded and last.tests_failed:
        yield Point(
            "error",
            f"{count_of(last.tests_failed, 'test')} failed in the last run.",
            "Run `dbt test` to see the rows that fail.",
        )
    elif last and not last.succeeded and not failing:
        yield Point("error", "The last run failed.", "Read logs/dbt.log and run again.")
    unaccounted: dict[str, int] = {}
    for period in report.model_periods:
        unaccounted[period.model] = unaccounted.get(period.model, 0) + period.unaccounted
    for model, rows in sorted(unaccounted.items()):
        if rows:
            yield Point(
                "error",
                f"{model} does not account for {count_of(abs(rows), 'row')} that it read.",
                "Its `row_balance` test shows the run; a rule may be missing in its rejected_* model.",
            )


def _feeds(report: Report) -> Iterator[Point]:
    for feed in report.feeds:
        state = feed.state(report.made_at)
        if state in ("stale", "late"):
            yield Point(
                "error" if state == "stale" else "warning",
                _late(report, feed),
                f"Look at its source, then run `tidemark land {feed.name}`.",
            )
        elif state == "never landed":
            yield Point(
                "warning", f"The feed {feed.name} has never landed.", f"Run `tidemark land {feed.name}`."
            )
    for name in report.unfinished:
        yield Point(
            "warning",
            f"A batch of {name} is planned and has not landed: a landing runs, or was interrupted.",
            "Nothing is lost: the next landing finishes its batch.",
        )
    for lost in report.lost_rows:
        what = f"{lost.feed} was missing {count_of(lost.rows, 'landed row')} ({lost.cause}): {lost.decision}."
        yield Point("warning", what.replace("_", " "), "docs/landing.md says how lost rows are found.")


def _late(report: Report, feed: Feed) -> str:
    limits, age = feed.limits, feed.age(report.made_at) or timedelta()
    limit = limits.error_after if limits.level(age) == Level.ERROR else limits.warn_after
    within = span(limit.total_seconds()) if limit else "none"
    return f"The feed {feed.name} last landed {span(age.total_seconds())} ago; its limit is {within}."


def _set_aside(report: Report) -> Iterator[Point]:
    files = [one for one in report.rejections if one.kind == "file"]
    if files:
        number = sum(one.number for one in files)
        yield Point(
            "warning",
            f"{count_of(number, 'file')} did not land, of {first_of(sorted({one.place for one in files}))}.",
            "Correct or delete them, then `tidemark replay-rejected`.",
        )
    records = [one for one in report.rejections if one.kind == "record" and one.number > one.replayed]
    if records:
        number = sum(one.number - one.replayed for one in records)
        feeds = first_of(sorted({one.place for one in records}))
        yield Point(
            "warning",
            f"{count_of(number, 'record')} of {feeds} cannot be read.",
            "`tidemark export-rejected` lists them; after a fix, `tidemark replay-rejected`.",
        )


def _tables(report: Report) -> Iterator[Point]:
    small = [one for one in report.sizes if has_small_files(one.files, one.bytes)]
    if small:
        names = first_of([one.table for one in small])
        yield Point("warning", f"Many small files slow down {names}.", "Run `tidemark maintain`.")
