"""Whether a model's increments have cost more than computing its query in full would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tidemark.engine.decision.states import FIRST_RUN, FULL, FULL_REFRESH, INCREMENTAL, REBUILDS
from tidemark.engine.decision.ways import ALWAYS, NEVER

RUNS = 3  # increments that are measured before they are compared
MORE = 1.2  # times the seconds of a full computation: less may be chance
MEASURED_BYTES = 64 * 1024**2  # of the sources: below, all ways take a second or two
NUMBER = 12  # of the newest runs of a model, in which these are looked for


@dataclass(frozen=True)
class Measured:
    """A run of a model.

    Attributes:
        state: how the model has read.
        seconds: how long it took.
    """

    state: str
    seconds: float


def is_measured(maintain: str, sizes: Mapping[str, int]) -> bool:
    """Return whether the runs of a model are compared.

    Args:
        maintain: the setting `meta.maintain`.
        sizes: the bytes of its sources; empty if they are not known.
    """
    return maintain not in (ALWAYS, NEVER) and sum(sizes.values()) >= MEASURED_BYTES


def why_full(runs: Sequence[Measured]) -> str:
    """Return why a query is computed in full, though its changes can be applied; empty if they are applied.

    A query that is computed in full is measured in each run. When it has become slower than the increments
    were, these are tried again.

    Args:
        runs: the runs of the model, newest first. Those before its table was last rebuilt do not count.
    """
    increments: list[float] = []
    full: list[float] = []
    for run in runs:
        if run.state == INCREMENTAL:
            increments.append(run.seconds)
        elif run.state == FULL:
            full.append(run.seconds)
        elif run.state in (FIRST_RUN, FULL_REFRESH, *REBUILDS):
            full.append(run.seconds)
            break
    if len(increments) < RUNS or not full:
        return ""
    usual = median(increments[:RUNS])
    if usual <= MORE * full[0]:
        return ""
    return f"its last increments took {usual:.1f} s, a full computation {full[0]:.1f} s"
