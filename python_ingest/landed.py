"""Print the outcome of a landing."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from python_ingest.bronze.rescued import Rescued
from python_ingest.feeds.declarations import Feed, FileFeed
from python_ingest.files.acceptance import Landed
from python_ingest.files.grain import notes
from python_ingest.kafka.outcome import LandedTopic
from python_ingest.postgresql.outcome import LandedTable
from tidemark.base.output import count_of, first_of, output

FIELDS = 5  # names of fields in a message

Outcome = Landed | LandedTable | LandedTopic


def rows_of(outcome: Outcome) -> int:
    """Return how many rows a landing has appended."""
    if isinstance(outcome, LandedTopic):
        return outcome.messages
    return outcome.rows + (outcome.deleted if isinstance(outcome, LandedTable) else outcome.replayed)


def print_landed(feed: Feed, outcome: Outcome, seconds: float) -> None:
    """Print one line for a landing, and a note for each point to check.

    Args:
        feed: the feed.
        outcome: the outcome of its landing.
        seconds: the duration of the landing.
    """
    if isinstance(outcome, Landed):
        facts: dict[str, Any] = {"files": outcome.files, "rows": outcome.rows, "known": outcome.known}
        output.row("landed", feed.table, _files_landed(outcome), seconds, **facts)
    else:
        said = _table_landed(outcome) if isinstance(outcome, LandedTable) else _topic_landed(outcome)
        output.row("landed", feed.table, said, seconds, **asdict(replace(outcome, settled=None)))
    if not isinstance(outcome, LandedTopic):
        for column in outcome.evolved:
            output.note("evolved", f"{feed.table}.{column}: see ops.schema_changes", column=column)
        for column, files in outcome.missing.items():
            said = f"{feed.table}.{column} is NULL: not in {first_of(files)}"
            output.note("missing column", said, column=column, paths=files)
    if outcome.settled:
        event = "lost rows" if outcome.settled.lost else "checked"
        output.note(event, outcome.settled.message, decision=outcome.settled.decision)
    if isinstance(outcome, Landed):
        _tell_files(outcome)
        _tell_rows(feed, outcome)
    elif isinstance(outcome, LandedTable):
        _tell_table(outcome)
    elif outcome.broken:
        said = f"{count_of(outcome.broken, 'message')} cannot be decoded: see ops.rejected_records"
        output.note("broken", said, messages=outcome.broken)


def _tell_files(outcome: Landed) -> None:
    if broken := outcome.broken - outcome.erased:
        said = f"{count_of(broken, 'record')} cannot be read: see ops.rejected_records"
        output.note("broken", said, records=broken)
    _tell_rescued(outcome.rescued)
    if outcome.erased:
        said = f"{count_of(outcome.erased, 'row')} of erased persons landed without content: see ops.erasures"
        output.note("erased", said, rows=outcome.erased)
    for path, reason in outcome.rejected.items():
        output.note("set aside", f"{path}: {reason}", path=path)
    for path in outcome.ignored:
        output.note("ignored", f"{path}: changed after it was landed", path=path)
    if outcome.left_out.files:
        output.note("left out", outcome.left_out.message, **asdict(outcome.left_out))
    for path in outcome.unsettled:
        output.note("left for the next run", f"{path}: still being written", path=path)


def _tell_rescued(found: Rescued) -> None:
    kinds = (
        (found.misfit_records, found.misfits, "with values that do not fit their columns"),
        (found.undeclared_records, found.undeclared, "with fields that are not declared"),
    )
    for records, fields, what in kinds:
        if records:
            names = first_of([f"{name} ({number:,})" for name, number in fields.most_common()], FIELDS)
            message = f"{count_of(records, 'record')} {what}: {names}; see _rescued_data"
            output.note("rescued", message, records=records, fields=dict(fields))


def _tell_rows(feed: Feed, outcome: Landed) -> None:
    for path in outcome.removed:
        output.note("removed", f"{path}: gone from the location; its keys are retracted", path=path)
    if outcome.retracted:
        message = f"{count_of(outcome.retracted, 'key')} of rows that are gone or have changed"
        output.note("retracted", message, keys=outcome.retracted)
    if isinstance(feed, FileFeed):
        for event, message in notes(feed, outcome.grain):
            output.note(event, message)


def _tell_table(outcome: LandedTable) -> None:
    if outcome.since:
        output.note(
            "first window", f"from {outcome.since:%Y-%m-%d %H:%M} UTC on; older rows land when they change"
        )
    if outcome.without_cursor:
        number = (
            "1,000 or more rows"
            if outcome.without_cursor == 1000
            else count_of(outcome.without_cursor, "row")
        )
        output.note(
            "left out",
            f"{number} without a cursor value: add a second column to `cursor`, or remove `cursor`",
        )
    if outcome.still_open:
        output.note(
            "still open",
            "a transaction was still running; the first landing after its end reads what it wrote",
        )


def _files_landed(outcome: Landed) -> str:
    parts = _resumed(outcome.resumed)
    if outcome.files:
        parts.append(f"{count_of(outcome.files, 'file')} landed, {count_of(outcome.rows, 'row')}")
    if outcome.replayed:
        parts.append(f"{count_of(outcome.replayed, 'rejected record')} landed")
    if outcome.removed:
        parts.append(f"{count_of(len(outcome.removed), 'file')} removed")
    if outcome.waiting:
        parts.append(f"{count_of(outcome.waiting, 'record')} still rejected")
    if not parts:
        parts.append("nothing new")
    if outcome.known:
        parts.append(f"{count_of(outcome.known, 'file')} known")
    return ", ".join(parts)


def _table_landed(outcome: LandedTable) -> str:
    parts = _resumed(outcome.resumed)
    if outcome.rows:
        parts.append(f"{count_of(outcome.rows, 'row')} landed")
    if outcome.deleted:
        parts.append(f"{outcome.deleted:,} deleted")
    if not parts:
        parts.append("nothing new, skipped")
    if outcome.unchanged:
        parts.append(f"{outcome.unchanged:,} checked again")
    if outcome.until:
        parts.append(f"up to {outcome.until:%Y-%m-%d %H:%M:%S}")
    return ", ".join(parts)


def _topic_landed(outcome: LandedTopic) -> str:
    said = f"{count_of(outcome.messages, 'message')} landed" if outcome.messages else "nothing new, skipped"
    return f"{said}, up to {outcome.until:%Y-%m-%d %H:%M:%S}" if outcome.until else said


def _resumed(batch: int | None) -> list[str]:
    return [f"finished batch {batch} of an earlier run"] if batch else []
