"""When a model's table is rebuilt because what it declares has changed, and when a part of it can be."""

from __future__ import annotations

from tidemark.engine.checkpoints.rows import JOINED, Contract
from tidemark.engine.decision.facts import Facts, Source
from tidemark.engine.decision.losses import lost_join, lost_version
from tidemark.engine.decision.states import CODE_CHANGED, COLUMNS_ADDED, GRAIN_CHANGED, Reading

IGNORE, STOP, REBUILD_IT = CHOICES = ("ignore", "stop", "rebuild")
STOPS = ", where the run stops"  # after the reason, for commands that only look


def redeclared(facts: Facts, before: Contract) -> Reading | None:
    """Return the reading of a model whose contract, grain or code changed since its last run; else None.

    Args:
        facts: the model.
        before: what its last run recorded.
    """
    if before == facts.contract:
        return None
    if added := facts.look_for_columns():
        return Reading(COLUMNS_ADDED, f"new in its contract: {', '.join(added)}")
    if before.has_other_grain(facts.contract):
        return Reading(GRAIN_CHANGED, "another unique_key, newest_by, insert_only or prune_by")
    code = before.changed_code(facts.contract)
    return _after_change_of_code(facts, f"{code} has changed") if code else None


def _after_change_of_code(facts: Facts, changed: str) -> Reading | None:
    """Return what `meta.on_code_change` asks for.

    Without the setting, a rebuild that reads more than `meta.max_rebuild_bytes` stops, too.
    """
    choice, size = facts.on_code_change, sum(facts.source_bytes.values())
    if choice not in (None, *CHOICES):
        message = f"{facts.name}: on_code_change is {choice}. Set it to rebuild, stop or ignore."
        return Reading(CODE_CHANGED, changed, refused=message)
    is_large = choice is None and size > facts.max_rebuild_bytes
    if choice == IGNORE:
        return None
    if choice != STOP and not is_large:
        return Reading(CODE_CHANGED, changed)
    if facts.command.explains:
        return Reading(CODE_CHANGED, f"{changed}{STOPS}")
    limit = ", more than max_rebuild_bytes" if is_large else " (on_code_change: stop)"
    return Reading(
        CODE_CHANGED,
        changed,
        refused=f"{facts.name}: {changed} since the table was built, so old and new rows would be mixed. "
        f"A rebuild reads {size / 1_000_000:,.1f} MB{limit}. Rebuild it: {facts.rebuild_command()}.",
    )


def cannot_rebuild(facts: Facts, with_new_code: bool) -> str:
    """Return why no part of a table can be rebuilt, with the way out; empty if it can.

    Each source must be available as the table was built from it: at a version that it still has, or joined
    and unchanged.

    Args:
        facts: the model.
        with_new_code: whether the part may be built with other code than the rest: some columns may, a range
            of dates may not.
    """
    why = next(filter(None, _reasons(facts, with_new_code)), None)
    run = f"`dbt run --select {facts.name}`"
    return f"{facts.name} cannot be rebuilt in part: {why}. Run it: {run}." if why else ""


def _reasons(facts: Facts, with_new_code: bool) -> list[str | None]:
    if not facts.is_built or facts.newest is None:
        return ["it is not built yet"]
    before = facts.newest.contract
    if with_new_code and before.grain != facts.contract.grain:
        return ["its keys have changed since its last run"]
    if not with_new_code and before != facts.contract:
        return ["its contract or its keys have changed since its last run"]
    return [_unavailable(facts, source) for source in facts.sources]


def _unavailable(facts: Facts, source: Source) -> str | None:
    if source.checkpoint is None or source.checkpoint.version is None:
        return None
    if source.now is None:
        return f"{source.name} was replaced"
    if facts.is_plain and source.is_named:
        return lost_version(source)
    if source.checkpoint.kind == JOINED:
        return lost_join(source)
    now, checkpoint = source.versioned
    if not now.has(checkpoint):
        return f"{source.name} no longer has version {checkpoint.version}"
    return None
