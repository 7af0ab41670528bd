"""Which runs an undo takes back, and to which versions it sets tables back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.rows import UNDO, Pair, Run, Written
from tidemark.engine.runs.choosing import undone_ids

Precedes = Callable[[str, int, int], bool]


@dataclass(frozen=True)
class Plan:
    """What an undo takes back.

    Attributes:
        runs: the runs, the oldest first; the first is the one that was asked for.
        before: each table that they wrote, with its version before the first of them; None: it did not exist.
        last: each of these tables, as the last of the runs left it.
    """

    runs: tuple[Run, ...]

    @property
    def before(self) -> dict[str, int | None]:
        found: dict[str, int | None] = {}
        for run in self.runs:
            for written in run.written:
                found.setdefault(written.table, written.before)
        return found

    @property
    def last(self) -> dict[str, Written]:
        return {written.table: written for run in self.runs for written in run.written}

    @property
    def models(self) -> set[str]:
        """The tables that the runs wrote, or whose checkpoints they moved."""
        return {model for run in self.runs for model in run.models}

    @property
    def first_sequences(self) -> dict[Pair, int]:
        """The lowest sequence of each checkpoint that the runs moved."""
        found: dict[Pair, int] = {}
        for one in (one for run in self.runs for one in run.checkpoints):
            found[one.pair] = min(one.sequence, found.get(one.pair, one.sequence))
        return found


def planned(target: Run, runs: Sequence[Run], precedes: Precedes, *, with_later: bool) -> Plan:
    """Plan an undo.

    Args:
        target: the run to take back.
        runs: this run and all later ones with their checkpoints, the oldest first, undos included.
        precedes: whether a version of a table is another one, or came before it.
        with_later: whether to take back later runs that depend on it, too.

    Raises:
        TidemarkError: if the run is an undo, was undone already or wrote nothing; or if later runs wrote the
            same tables or read what it wrote, and `with_later` is false.
    """
    target = next(run for run in runs if run.id == target.id)  # with its checkpoints
    _refuse_other_runs(target, runs)
    undone = undone_ids(runs)
    later = [run for run in runs if run.id not in {target.id, *undone} and run.command != UNDO]
    chosen, found = [target], [target]
    while found:
        plan = Plan(tuple(run for run in runs if run in chosen))
        found = [run for run in later if run not in chosen and _depends(run, plan, precedes)]
        chosen += found
    blocking = [run.label for run in plan.runs[1:] if run.written]
    if blocking and not with_later:
        raise TidemarkError(
            f"The run {target.label} cannot be undone alone. Later runs wrote the same tables, or read what "
            f"it wrote: {', '.join(blocking)}.",
            "Add --with-later to take these runs back, too, the newest first.",
        )
    return plan


def _refuse_other_runs(target: Run, runs: Sequence[Run]) -> None:
    """Stop if there is nothing to take back of a run."""
    if target.command == UNDO:
        raise TidemarkError(
            f"{target.label} is an undo itself.", "Run `dbt build`: it reads the same versions again."
        )
    if target.id in undone_ids(runs):
        raise TidemarkError(
            f"The run {target.label} was undone already.", "Run `dbt build` to build its tables again."
        )
    if not target.models:
        raise TidemarkError(
            f"The run {target.label} wrote no table.", "`select * from ops.runs` shows what each run wrote."
        )


def _depends(run: Run, plan: Plan, precedes: Precedes) -> bool:
    """Return whether a later run wrote or read for one of these models, or read what was written."""
    if run.models & plan.models:
        return True
    for one in run.checkpoints:
        if one.source in plan.before and one.version is not None and not one.is_of_test:
            before = plan.before[one.source]
            if before is None or not precedes(one.source, one.version, before):
                return True
    return False
