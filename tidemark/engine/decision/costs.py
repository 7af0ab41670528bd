"""Whether a model's increments have cost more than computing its query in full would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from tidemark.engine.decision.commits import Commit
from tidemark.engine.decision.facts import Facts
from tidemark.engine.decision.states import FIRST_RUN, FULL, FULL_REFRESH, INCREMENTAL, REBUILDS
from tidemark.engine.decision.ways import ALWAYS, NEVER

RUNS = 3  # increments that are measured before they are compared
MORE = 1.2  # times the seconds of a full computation: less may be chance
NOISE = 2.0  # seconds: of small models, all ways take that long
MEASURED_BYTES = 64 * 1024**2  # of the sources: below, all ways take a second or two
FEW = 300_000  # changed rows that are sent to all tasks of a join: some dozen megabytes
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


@dataclass(frozen=True)
class Usual:
    """What the runs of a model have cost.

    Attributes:
        increments: the seconds of its newest increments, at most RUNS.
        full: the seconds of its newest computation in full; None if there was none.
    """

    increments: tuple[float, ...] = ()
    full: float | None = None

    @property
    def increment(self) -> float | None:
        """The median of the increments; None if there was none."""
        return median(self.increments) if self.increments else None

    @property
    def why_full(self) -> str:
        """Why the query is computed in full, though its changes can be applied; empty if they are applied."""
        if self.increment is None or self.full is None or len(self.increments) < RUNS:
            return ""
        return f"its {self}" if self.increment > MORE * self.full else ""

    def __str__(self) -> str:
        """Return what is known, in words; nothing if nothing is."""
        took = []
        if self.increment is not None:
            last = f"last {len(self.increments)} increments" if len(self.increments) > 1 else "last increment"
            took.append(f"{last} took {self.increment:.1f} s")
        if self.full is not None:
            took.append(f"a full computation {'' if took else 'took '}{self.full:.1f} s")
        return ", ".join(took)


def by_model(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Measured]]:
    """Return the runs of each model (`schema.name`).

    Args:
        rows: the rows of `measured_query` of `engine/checkpoints/layout.py`.
    """
    found: dict[str, list[Measured]] = {}
    for row in rows:
        found.setdefault(row["model"], []).append(Measured(row["state"], float(row["seconds"])))
    return found


def is_measured(maintain: str, sizes: Mapping[str, int]) -> bool:
    """Return whether the runs of a model are compared.

    Args:
        maintain: the setting `meta.maintain`.
        sizes: the bytes of its sources; empty if they are not known.
    """
    return maintain not in (ALWAYS, NEVER) and sum(sizes.values()) >= MEASURED_BYTES


def usual(runs: Sequence[Measured]) -> Usual:
    """Return what the runs of a model have cost.

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
    return Usual(tuple(increments[:RUNS]), full[0] if full else None)


@dataclass(frozen=True)
class Choices:
    """How many runs were brought up to date in the cheaper way.

    Attributes:
        runs: how many runs took one of two ways, of which the other had been measured before.
        right: how many of them took no more than MORE times the seconds of the other way.
        dearer: for models with other runs, how many these were.
    """

    runs: int = 0
    right: int = 0
    dearer: Mapping[str, int] = field(default_factory=dict)


def choices(models: Mapping[str, Sequence[Measured]]) -> Choices:
    """Compare what runs took with what the other way, an increment or a full computation, took before.

    Args:
        models: the runs of each model, newest first.
    """
    number, dearer = 0, dict[str, int]()
    for model, runs in models.items():
        costs = [cost for place in range(len(runs)) if (cost := _other_way(runs[place:])) is not None]
        wrong = sum(took > MORE * other and took - other > NOISE for took, other in costs)
        number += len(costs)
        dearer |= {model: wrong} if wrong else {}
    return Choices(number, number - sum(dearer.values()), dearer)


def _other_way(runs: Sequence[Measured]) -> tuple[float, float] | None:
    """Return what the newest run took, and what the other way took before it; None if that is not known."""
    newest, before = runs[0], usual(runs[1:])
    other = {INCREMENTAL: before.full, FULL: before.increment}.get(newest.state)
    return None if other is None else (newest.seconds, other)


def seconds(runs: Sequence[Measured]) -> dict[str, Any]:
    """Return the fields of `Usual` of a model's runs, newest first, for a note."""
    return asdict(usual(runs))


def few_changes(facts: Facts) -> list[str]:
    """Return the tables with so few changed rows that these can be sent to all tasks, in lower case.

    Args:
        facts: the model that reads them.
    """
    return [name for name, commits in _new_commits(facts) if are_few(commits)]


def may_remove(facts: Facts) -> bool:
    """Return whether the changes of a model's sources may have removed or replaced rows.

    Args:
        facts: the model.
    """
    return any(commit.removes for _, commits in _new_commits(facts) for commit in commits)


def _new_commits(facts: Facts) -> Iterator[tuple[str, Sequence[Commit]]]:
    """Yield the sources with a checkpoint, in lower case, and their commits since then."""
    for source in facts.sources:
        version = source.checkpoint.version if source.checkpoint else None
        if source.now is not None and version is not None:
            yield source.name.lower(), list(source.now.since(version))


def are_few(commits: Iterable[Commit]) -> bool:
    """Return whether commits changed few rows for certain; an updated row counts before and after.

    Args:
        commits: the commits since the last run.
    """
    moving = [commit for commit in commits if not commit.keeps_rows]
    are_counted = all(commit.deleted or not commit.overwrites for commit in moving)
    return are_counted and sum(2 * commit.rows + commit.deleted for commit in moving) <= FEW
