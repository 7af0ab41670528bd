"""How a model reads its sources: one state for all of them, so that its table matches one set of versions."""

from __future__ import annotations

from tidemark.engine.checkpoints.rows import JOINED
from tidemark.engine.decision.facts import Facts, Source
from tidemark.engine.decision.losses import lost_history, lost_join, lost_table
from tidemark.engine.decision.rebuilds import cannot_rebuild, redeclared
from tidemark.engine.decision.states import (
    AS_OF,
    COLUMNS_ADDED,
    FIRST_RUN,
    FULL,
    FULL_REFRESH,
    GRAIN_CHANGED,
    HISTORY_LOST,
    INCREMENTAL,
    REBUILD,
    REPAIR,
    VERIFY,
    Reading,
)


def decide_reading(facts: Facts) -> Reading:
    """Decide how a model reads, for all its sources at once."""
    reading = _asked_for(facts) or _from_state(facts)
    if facts.is_built and facts.calls_incremental and reading.state not in (INCREMENTAL, VERIFY, AS_OF):
        # it was compiled to read only a part of its rows
        reading.refused = reading.refused or (
            f"{facts.name} must read its sources whole ({reading.why}), but its SQL calls is_incremental(). "
            f"Rebuild it: {facts.rebuild_command()}."
        )
    return reading


def _asked_for(facts: Facts) -> Reading | None:  # noqa: PLR0911
    """Return the reading that the command asks for, whatever has changed; None if it does not."""
    command = facts.command
    if command.verifies:
        return Reading(VERIFY, "as consumed")
    if command.reads_past:
        return Reading(AS_OF, "as of a run")
    if command.dates:
        return Reading(
            REBUILD, f"rebuild of {' to '.join(command.dates)}", refused=cannot_rebuild(facts, False)
        )
    if command.columns:
        return Reading(
            REBUILD, f"rebuild of {', '.join(command.columns)}", refused=cannot_rebuild(facts, True)
        )
    if command.full_refresh:
        return Reading(FULL_REFRESH, "full refresh")
    if not facts.is_built:
        return Reading(FIRST_RUN, "first run: no table yet")
    return _repair(facts) if command.repairs else None


def _repair(facts: Facts) -> Reading:
    """Return the reading of a model whose wrong rows are written, unless it stops or is built anew anyhow."""
    found = _from_state(facts)
    if found.refused or found.state in (FIRST_RUN, COLUMNS_ADDED, GRAIN_CHANGED):
        return found
    return Reading(REPAIR, "repair: rows that differ from a rebuild", is_whole=True)


def _from_state(facts: Facts) -> Reading:  # noqa: PLR0911
    """Return the reading that follows from what changed since the last run."""
    if facts.is_plain:
        before = next(iter(facts.own_checkpoints), None)
        changed = redeclared(facts, before.contract) if before else None
        if changed and changed.state != GRAIN_CHANGED and facts.way.accumulates and not changed.refused:
            return Reading(FULL, changed.why, is_whole=True)
        return changed or _plain(facts)
    read = [source for source in facts.sources if source.is_read_before]
    if lost := next(filter(None, map(_lost_source, read)), None):
        return Reading(HISTORY_LOST, lost)
    if not read:
        return Reading(FIRST_RUN, "first run: no checkpoint yet")
    if changed := redeclared(facts, read[0].known.contract):
        return changed
    if lost := lost_table(facts):
        return Reading(HISTORY_LOST, lost)
    return Reading(INCREMENTAL, INCREMENTAL)


def _lost_source(source: Source) -> str | None:
    """Return why what a model reads by `changes()`, or joins, cannot be read from its checkpoint on."""
    if source.known.version is None:
        return None
    if source.known.kind == JOINED:
        return lost_join(source)
    return lost_history(source.name, *source.versioned, source.is_landed)


def _plain(facts: Facts) -> Reading:
    """Return how a plain model reads: not at all if all tables are as its last run left them."""
    changed: list[str] = []
    why, why_whole = None, lost_table(facts)
    for source in facts.sources:
        if source.is_view:
            continue
        if source.now is None:
            why_whole = f"{source.name} has no versions"
        elif source.checkpoint is None:
            why_whole = f"{source.name} has no checkpoint yet"
        elif lost_join(source):
            changed.append(source.name)
            why = why or f"{source.name} has changed"
            # both sides of each change are read, so landed rows may change
            why_whole = why_whole or lost_history(source.name, *source.versioned, is_landed=False)
    return Reading(
        FULL if why_whole or changed else INCREMENTAL,
        why_whole or why or INCREMENTAL,
        list(dict.fromkeys(changed)),
        why_whole is not None,
    )
