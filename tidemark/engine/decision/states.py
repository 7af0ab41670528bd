"""The states in which a model reads: docs/incremental.md describes each."""

from __future__ import annotations

from dataclasses import dataclass, field

INCREMENTAL, FULL, NOTHING_NEW = "incremental", "full", "nothing new"
VERIFY, AS_OF, REBUILD = "verify", "as of", "rebuild"
FIRST_RUN, FULL_REFRESH, REPAIR = "first run", "full refresh", "repair"
HISTORY_LOST, COLUMNS_ADDED, GRAIN_CHANGED, CODE_CHANGED = (
    "history lost",
    "columns added",
    "grain changed",
    "code changed",
)
# changes alone would not give the table of a rebuild, so the table is rebuilt
REBUILDS = (HISTORY_LOST, COLUMNS_ADDED, GRAIN_CHANGED, CODE_CHANGED, REPAIR)


@dataclass
class Reading:
    """How a model reads in this run.

    Attributes:
        state: as docs/incremental.md describes it.
        why: the reason, for the output of a run.
        changed: of a plain model, the sources that changed since its last run.
        is_whole: whether their changes cannot be read one by one.
        refused: why the model cannot run, with the way out; empty if it can.
    """

    state: str
    why: str
    changed: list[str] = field(default_factory=list)
    is_whole: bool = False
    refused: str = ""

    @property
    def rebuilds(self) -> bool:
        """Whether the table is rebuilt, because changes alone would not give the table of a rebuild."""
        return self.state in REBUILDS
