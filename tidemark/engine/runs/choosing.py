"""Choose one of the runs that `ops.runs` records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.engine.checkpoints.rows import ID_LENGTH, UNDO, Run

LAST = "last"


def undone_ids(runs: Iterable[Run]) -> set[str]:
    """Return the ids of the runs that were taken back."""
    return {name for run in runs for name in run.undone}


def choose_run(runs: Sequence[Run], name: str) -> Run:
    """Return the run with an id.

    Args:
        runs: all runs, the oldest first.
        name: the beginning of an id, or `last`: the newest run that wrote a table and was not undone.

    Raises:
        TidemarkError: if no run fits, or several do.
    """
    if name == LAST:
        undone = undone_ids(runs)
        writing = [run for run in runs if run.written and run.command != UNDO and run.id not in undone]
        if not writing:
            raise TidemarkError(
                "No recorded run has written a table.", "`select * from ops.runs` shows all runs."
            )
        return writing[-1]
    found = [run for run in runs if run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TidemarkError(
            f"{len(found)} runs begin with {name}: {', '.join(run.id for run in found[-5:])}.",
            "Give more characters of the id.",
        )
    newest = ", ".join(run.label for run in reversed(runs[-3:])) or "none"
    similar = did_you_mean(name, [LAST, *(run.id[: max(len(name), ID_LENGTH)] for run in reversed(runs))])
    raise TidemarkError(
        f"No recorded run begins with {name}.",
        f"{similar}The newest are: {newest}. `ops.runs` has all of them.",
    )
