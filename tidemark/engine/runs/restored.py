"""Which checkpoints an undo sets: those of before, fitted to the tables that were set back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.rows import UNDO, Checkpoint, Pair, Run, latest
from tidemark.engine.runs.choosing import undone_ids
from tidemark.engine.runs.plan import Plan


@dataclass(frozen=True)
class Restored:
    """A table that was set back.

    Attributes:
        before: the version to which it was set back.
        table_id: its id at this version.
        undone: its version until then.
        version, now_id: its version and its id afterwards, with the same rows.
        same_rows: whether no commit after a version, up to a later one, changed rows.
    """

    before: int
    table_id: str
    undone: int
    version: int
    now_id: str
    same_rows: Callable[[int, int], bool]

    def has_rows_of(self, version: int | None, table_id: str | None) -> bool:
        """Return whether the table now has the rows of a version."""
        return version is not None and table_id == self.table_id and self.same_rows(version, self.before)


def checkpoints_after(
    plan: Plan,
    runs: Sequence[Run],
    before: Mapping[Pair, Checkpoint],
    restored: Mapping[str, Restored],
) -> list[Checkpoint]:
    """Return the checkpoints to record once all tables are set back.

    They are those of before. Where they name a version of a table that was restored, they name the version
    that has the same rows now, so that the next run goes on from it. A checkpoint that the runs made first
    is recorded without a kind, as one that does not exist. The checkpoints of a test that has passed since
    stay: they are true, and what was restored is a change for it.

    Args:
        plan: the runs that are taken back.
        runs: these and all later runs, undos included.
        before: the checkpoints of before.
        restored: the tables that were set back and still exist.
    """
    moved = plan.first_sequences.keys()
    last = _last_sequences(runs)
    passed_since = _tests_of_others(plan, runs)
    found = []
    for pair in sorted({*moved, *before}):
        model, source = pair
        old = before.get(pair)
        is_of_test = model.startswith("test.")
        if is_of_test and model in passed_since and pair in moved:
            continue
        sequence = max(last.get(pair, 0), old.sequence if old else 0) + 1
        if old is None or old.kind is None:
            new = Checkpoint(model, source, sequence)
        else:
            newest = old if is_of_test else _newest(model, before)
            new = replace(_fitted(old, newest, restored), sequence=sequence)
        if pair in moved or model in restored or old is None or old.place != new.place:
            found.append(new)
    return found


def refuse_other_contracts(plan: Plan, before: Mapping[Pair, Checkpoint]) -> None:
    """Stop on Iceberg if a table had another contract: a rollback does not bring properties back.

    Args:
        plan: the runs that are taken back.
        before: the checkpoints of before.

    Raises:
        TidemarkError: if the columns, constraints or descriptions of a table have changed.
    """
    for one in (one for run in plan.runs for one in run.checkpoints if one.model in plan.before):
        then = before.get(one.pair)
        contracts = {each.contract.contract for each in (then, one) if each and each.contract.contract}
        if len(contracts) > 1:
            raise TidemarkError(
                f"{one.model} had another contract before the run, and Iceberg does not keep contracts.",
                f"Change it back, and run `dbt run --full-refresh --select {one.model.partition('.')[2]}`.",
            )


def _fitted(old: Checkpoint, newest: Checkpoint, restored: Mapping[str, Restored]) -> Checkpoint:
    """Return a checkpoint that names the present versions of restored tables."""
    version, source_id = old.version, old.source_id
    source = restored.get(old.source)
    if source and source.has_rows_of(version, source_id):
        version, source_id = source.version, source.now_id
    table_version, table_id = newest.table_version, newest.table_id
    own = restored.get(old.model)
    if own and own.has_rows_of(table_version, table_id):
        table_version, table_id = own.version, own.now_id
    return replace(old, version=version, source_id=source_id, table_version=table_version, table_id=table_id)


def _newest(model: str, before: Mapping[Pair, Checkpoint]) -> Checkpoint:
    """Return the checkpoint that says how the model's latest run left its table."""
    own = latest(one for one in before.values() if one.model == model and one.kind)
    return max(own, key=lambda one: one.table_version or 0)


def _last_sequences(runs: Sequence[Run]) -> dict[Pair, int]:
    found: dict[Pair, int] = {}
    for one in (one for run in runs for one in run.checkpoints):
        found[one.pair] = max(one.sequence, found.get(one.pair, 0))
    return found


def _tests_of_others(plan: Plan, runs: Sequence[Run]) -> set[str]:
    """Return the tests that passed in later runs which are not taken back."""
    undone = undone_ids(runs)
    others = [run for run in runs if run not in plan.runs and run.command != UNDO and run.id not in undone]
    return {one.model for run in others for one in run.checkpoints if one.is_of_test}
