"""The variables (`--vars`) with which tables were built, as `ops.runs` has recorded them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.engine.checkpoints.rows import UNDO
from tidemark.engine.checkpoints.state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HIDDEN = "***"  # stands for a value that is not recorded
# they say what a command does, not what rows are
OWN = ("as_of", "audit", "full_tests", "tidemark_purpose", "tidemark_repaired")
PARTIAL = ("rebuild_from", "rebuild_columns")  # such a run leaves the variables of the table as they were
REBUILD = "rebuild_"


@dataclass(frozen=True)
class Variables:
    """The variables with which a table was built.

    Attributes:
        values: those whose values are recorded, by name.
        hidden: the names of those whose values are not, because they look like secrets.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def with_given(self, given: Mapping[str, Any]) -> Variables:
        """Return them with the values that the user gives now."""
        return Variables({**self.values, **given}, self.hidden - given.keys())

    @property
    def group(self) -> str:
        """A text that is the same for tables which can be compiled together."""
        return json.dumps([self.values, sorted(self.hidden)], sort_keys=True, default=str)


def recorded_variables(spark: SparkSession, ops_schema: str) -> dict[str, Variables]:
    """Return the variables of the runs that built the present tables, by `schema.name`.

    A run counts for a table if it moved a checkpoint of it and was not undone.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
    """
    return variables_of(State(spark, ops_schema).variables())


def variables_of(runs: Iterable[Mapping[str, Any]]) -> dict[str, Variables]:
    """Return the variables of each table.

    Args:
        runs: the recorded runs, the oldest first: `invocation_id`, `command`, `vars` as JSON, `models` and
            `undone_runs`.
    """
    known = [dict(run) for run in runs]
    undone = {name for run in known for name in run["undone_runs"] or ()}
    found: dict[str, Variables] = {}
    for run in known:
        variables = json.loads(run["vars"] or "{}")
        if run["command"] == UNDO or run["invocation_id"] in undone or any(map(variables.get, PARTIAL)):
            continue
        kept = {name: value for name, value in variables.items() if not is_own(name)}
        hidden = frozenset(name for name, value in kept.items() if HIDDEN in json.dumps(value))
        values = {name: value for name, value in kept.items() if name not in hidden}
        found |= dict.fromkeys(run["models"] or (), Variables(values, hidden))
    return found


def is_own(name: str) -> bool:
    """Return whether a variable is one of Tidemark's own, which is not repeated for a proof."""
    return name in OWN or name.startswith(REBUILD)
