"""What a run reads of each source: versions, or values of a watermark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tidemark.engine.checkpoints.rows import CHANGES, JOINED, WATERMARK, Checkpoint, Contract
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision.facts import Facts, Source
from tidemark.engine.decision.losses import lost_history, lost_join, lost_version
from tidemark.engine.decision.states import (
    AS_OF,
    COLUMNS_ADDED,
    FULL,
    INCREMENTAL,
    NOTHING_NEW,
    REBUILD,
    VERIFY,
    Reading,
)
from tidemark.engine.decision.tables import TableState

WHOLE = "whole"


class FirstReading(Exception):
    """A model reads a source for the first time, besides others of which it has read all rows."""


def past_window(source: str, version: int) -> Window:
    """Return the window of a table that is read as of a run."""
    return Window(source, AS_OF, last=version, message=f"as of version {version}")


def change_window(facts: Facts, reading: Reading, source: Source) -> Window:
    """Return what a model reads of a source by `changes()`.

    Raises:
        FirstReading: with a message for the user.
    """
    now, checkpoint = source.now, source.checkpoint
    assert now is not None  # noqa: S101
    window = Window(source.name, reading.state, CHANGES, now.id, last=now.version)
    if reading.state in (VERIFY, REBUILD):
        version = checkpoint.version if checkpoint and now.has(checkpoint) else None
        window.last = now.version if version is None else version
        window.message = f"as of version {window.last}"
        window.unproven = "never read" if not checkpoint else "another table" if version is None else None
    elif reading.state != INCREMENTAL:
        window.message = f"as of version {now.version} ({reading.why})"
    elif checkpoint is None or checkpoint.version is None:
        raise FirstReading(
            f"{facts.name} reads {source.name} for the first time. Rebuild it: {facts.rebuild_command()}."
        )
    else:
        return since(window, now, checkpoint.version)
    return window


def since(window: Window, now: TableState, version: int) -> Window:
    """Return a window limited to what came after a version, which may be nothing."""
    last = window.last
    assert last is not None  # noqa: S101
    if version == last:
        return replace(window, state=NOTHING_NEW, message=f"after version {last}: nothing new")
    return replace(window, state=INCREMENTAL, after=version, message=now.version_range(version, last))


def joined_window(facts: Facts, reading: Reading, source: Source) -> Window:
    """Return what a model reads of a source by a plain `ref()` or `source()`."""
    now = source.now
    assert now is not None  # noqa: S101
    last: int | None = now.version
    if facts.is_plain and reading.state == REBUILD:
        last = source.known.version
    state = NOTHING_NEW if reading.state == INCREMENTAL else reading.state
    return Window(source.name, state, JOINED, now.id, last=last, message=f"as of version {last}")


def planned_windows(facts: Facts, reading: Reading) -> list[Window]:
    """Return what the next run of a plain model would read of each table; in `verify`, what it has read."""
    return [planned_window(reading, source) for source in facts.sources if not source.is_view]


def planned_window(reading: Reading, source: Source) -> Window:
    """Return what the next run of a plain model would read of a source; in `verify`, what it has read."""
    now, checkpoint = source.now, source.checkpoint
    window = Window(source.name, reading.state, JOINED, last=now.version if now else None)
    if reading.state == VERIFY:
        return _consumed(window, source)
    is_changed = source.name in reading.changed
    if reading.state == INCREMENTAL or (reading.state == FULL and not reading.is_whole and not is_changed):
        return replace(window, state=NOTHING_NEW, message=f"after version {window.last}: nothing new")
    if (
        reading.state == FULL
        and not reading.is_whole
        and now
        and checkpoint
        and checkpoint.version is not None
    ):
        return since(window, now, checkpoint.version)
    what = f"as of version {now.version}" if now else "all of it"
    return replace(window, message=f"{what} ({reading.why})")


def _consumed(window: Window, source: Source) -> Window:
    if source.now is None:
        return replace(window, message="as it is: it has no versions")
    if source.checkpoint is None:
        return replace(window, message=f"as of version {window.last}", unproven="never read")
    if lost_version(source) if source.is_named else lost_join(source):
        return replace(window, message=f"as of version {window.last}", unproven="changed")
    last = source.checkpoint.version
    return replace(window, last=last, message=f"as of version {last}")


def read_changes(facts: Facts, reading: Reading, joined: Iterable[Window], how: str) -> None:
    """Note that a plain model reads the changes of the sources that changed.

    Args:
        facts: the model.
        reading: how it was to read; it is changed.
        joined: what it was to read of each source; they are changed.
        how: what is done with the changes, in words.
    """
    reading.state = reading.why = INCREMENTAL
    for window in joined:
        if window.source not in reading.changed:
            window.state = NOTHING_NEW
            continue
        now, checkpoint = facts.source(window.source).versioned
        assert checkpoint.version is not None  # noqa: S101
        assert window.last is not None  # noqa: S101
        window.state, window.after = INCREMENTAL, checkpoint.version
        window.message = f"{now.version_range(checkpoint.version, window.last)} ({how})"


def read_in_full(reading: Reading, joined: Iterable[Window], why: str) -> None:
    """Note that a plain model's query is computed in full after all; the reading and windows are changed."""
    reading.state, reading.why = FULL, why
    _read_all(joined, FULL, f"full: {why}")


def with_new_columns(joined: Iterable[Window], why: str) -> Reading:
    """Return the reading of a model that is rebuilt because its columns changed; the windows are changed."""
    _read_all(joined, COLUMNS_ADDED, why)
    return Reading(COLUMNS_ADDED, why)


def _read_all(joined: Iterable[Window], state: str, reason: str) -> None:
    for window in joined:
        window.state, window.after = state, None
        window.message = f"as of version {window.last} ({reason})"


def watermark_window(
    source: str, column: str, reading: Reading, checkpoint: Checkpoint | None
) -> Window | None:
    """Return what a model reads of a source by `watermark_filter()`, before the new highest value is known.

    Args:
        source: `schema.table`.
        column: the column of the watermark.
        reading: how the model reads.
        checkpoint: up to where it has read the source.

    Returns:
        The window; None if the model reads only what is new, and has no checkpoint.
    """
    is_known = checkpoint and (checkpoint.kind, checkpoint.watermark_column) == (WATERMARK, column)
    keeps = reading.state in (INCREMENTAL, VERIFY, REBUILD, AS_OF)
    low = checkpoint.watermark if checkpoint and is_known and keeps else None
    if reading.state == INCREMENTAL and not is_known:
        return None
    return Window(source, reading.state, WATERMARK, watermark_column=column, low=low)


def up_to(window: Window, reading: Reading, high: Mapping[str, Any], lookback: Any = None) -> Window:
    """Return a window of a watermark that ends with the highest value.

    Args:
        window: the window.
        reading: how the model reads.
        high: the highest `value` as text, None if there is none, and its `type`.
        lookback: the time before the stored value that is read again; may be empty.
    """
    column, value = window.watermark_column, high["value"]
    if reading.state == INCREMENTAL:
        less = f" less {lookback}" if lookback else ""
        message = f"{column} from {window.low or ''}{less} to {value or ''}"
    else:
        message = f"{column} up to {value or 'none'} ({reading.why})"
    return replace(window, watermark=value, type=high["type"], message=message)


def tested_window(  # noqa: PLR0913
    source: str, now: TableState, last: int, checkpoint: Checkpoint | None, contract: Contract, *, full: bool
) -> Window:
    """Return what a test reads of a table: the versions since it last passed, or the whole table.

    Args:
        source: `schema.table`.
        now: the table.
        last: the version up to which it is read.
        checkpoint: the version at which the test last passed; None if it never did.
        contract: what the test declares now, and its code.
        full: whether the command asks for whole tables.
    """
    whole = Window(source, WHOLE, CHANGES, now.id, last=last, message=f"as of version {last}")
    if full or checkpoint is None or checkpoint.version is None or checkpoint.contract != contract:
        return whole
    before, age = now.age(checkpoint.version), now.age(last)
    if (
        lost_history(source, now, checkpoint, is_landed=False)
        or before is None
        or age is None
        or before < age
    ):
        return whole
    return since(whole, now, checkpoint.version)
