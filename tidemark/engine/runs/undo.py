"""Undo runs: restore their tables and checkpoints to the versions before them.

Each table is set back in a commit that the engine takes for one of somebody else. So a `dbt run` after a
killed undo corrects what was set back. The last commit is a row of `ops.runs` with the checkpoints of
before, which name the new versions: from there on, the tables are as their runs have left them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from tidemark.base.clock import utc_now, utc_time
from tidemark.base.errors import LakeBusyError, TidemarkError
from tidemark.engine.checkpoints.rows import UNDO, Checkpoint, Pair, Run, Written
from tidemark.engine.checkpoints.state import State
from tidemark.engine.dbt_core.profiles import target_name
from tidemark.engine.dbt_core.version import dbt_version
from tidemark.engine.project import Project
from tidemark.engine.runs.choosing import choose_run
from tidemark.engine.runs.plan import Plan, planned
from tidemark.engine.runs.provenance import provenance
from tidemark.engine.runs.restored import Restored, checkpoints_after, refuse_other_contracts
from tidemark.lake.table_format import ICEBERG, table_exists, table_format
from tidemark.lake.table_locks import locked
from tidemark.lake.versions_by_format import versions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.lake.versions import Versions


@dataclass(frozen=True)
class SetBack:
    """A table that was set back.

    Attributes:
        table: `schema.name`.
        before: the version to which it was set back; None if it was dropped.
        version: its version now.
    """

    table: str
    before: int | None
    version: int | None


class Undo:
    """One undo, from the plan to its record.

    Args:
        spark: the session.
        project: the project.
    """

    def __init__(self, spark: SparkSession, project: Project) -> None:
        self._spark, self._project = spark, project
        self._id = str(uuid4())
        self._versions: dict[str, Versions] = {}

    def plan(self, name: str, *, with_later: bool) -> Plan:
        """Return what to take back.

        Args:
            name: the run, as `choose_run` has it.
            with_later: whether to take back later runs that depend on it, too.

        Raises:
            TidemarkError: if the run cannot be undone, or not alone.
        """
        target = choose_run(self._state().runs(), name)
        self._versions.clear()
        runs = self._state().runs_since(target)
        return planned(target, runs, self._precedes, with_later=with_later)

    def run(self, plan: Plan, *, with_later: bool) -> Iterator[SetBack]:
        """Take runs back.

        Args:
            plan: what to take back.
            with_later: whether to discard changes that are in no record, too.

        Yields:
            Each table that was set back; the undo is recorded after the last.

        Raises:
            LakeBusyError: if another command works on the tables, or has recorded a run since the plan.
            TidemarkError: if a table cannot be set back; nothing was changed then.
        """
        with locked(*plan.models, *self._project.tables):  # checkpoints of readers move, too
            if self.plan(plan.runs[0].id, with_later=True) != plan:
                raise LakeBusyError(
                    "Another command has recorded a run in the meantime.", "Run the same command again."
                )
            runs = self._state().runs_since(plan.runs[0])
            before = self._state().before(plan.first_sequences, plan.models, list(plan.before))
            self._check(plan, runs, before, with_later=with_later)
            restored: dict[str, Restored] = {}
            for table in _newest_first(plan):
                yield self._set_back(table, plan.before[table], restored)
            self._record(plan, runs, checkpoints_after(plan, runs, before, restored), restored)

    def _check(
        self, plan: Plan, runs: Sequence[Run], before: Mapping[Pair, Checkpoint], *, with_later: bool
    ) -> None:
        """Stop before the first table is set back if one of them cannot be."""
        if table_format(self._spark) == ICEBERG:
            refuse_other_contracts(plan, before)
        for table, last in plan.last.items():
            version = plan.before[table]
            if table_exists(self._spark, table):
                self._check_table(last, version, runs, with_later=with_later)
            elif version is not None:
                raise TidemarkError(
                    f"{table} does not exist any more, so it cannot be set back to version {version}.",
                    f"Build it again: `dbt build --select {table.partition('.')[2]}`.",
                )

    def _check_table(
        self, last: Written, before: int | None, runs: Sequence[Run], *, with_later: bool
    ) -> None:
        versions = self._of(last.table)
        if before is not None and (why := versions.why_lost(before)):
            raise TidemarkError(
                f"{last.table} cannot be set back to the version before the run: {why}.",
                "Change the models back and run `dbt build`, which reads the sources. `tidemark maintain` "
                "decides how long versions are kept.",
            )
        if versions.identity_at(last.after) != last.table_id:
            raise TidemarkError(
                f"{last.table} was replaced by another table after the run.", "Run `dbt build` instead."
            )
        dbt_runs = [run for run in runs if run.command != UNDO]  # the commits of an undo say so themselves
        known = {w.after: w.before for run in dbt_runs for w in run.written if w.table == last.table}
        if not with_later and versions.has_unknown_commit({last.after, before}, known):
            raise TidemarkError(
                f"{last.table} was changed after the run by something that left no record: a run that was "
                "interrupted, or a change by hand.",
                "Add --with-later to discard this change, too; or run `dbt run`, which corrects the table.",
            )

    def _set_back(self, table: str, before: int | None, restored: dict[str, Restored]) -> SetBack:
        """Set a table back, unless an undo that was killed has done so; note it in `restored`."""
        if before is None:
            if table_exists(self._spark, table):
                self._of(table).drop()
            return SetBack(table, None, None)
        versions = self._of(table)
        table_id, version = versions.identity_at(before), versions.present
        if not versions.is_back_at(before):
            version = versions.restore(before, self._id)
        now_id = versions_of(self._spark, table).identity_at(version)
        restored[table] = Restored(before, table_id, versions.present, version, now_id, versions.same_rows)
        return SetBack(table, before, version)

    def _record(
        self,
        plan: Plan,
        runs: Sequence[Run],
        checkpoints: Sequence[Checkpoint],
        restored: Mapping[str, Restored],
    ) -> None:
        """Write the row of `ops.runs` that makes the undo hold."""
        # the newest row, whatever the clock says
        now = max(utc_now(), utc_time(max(run.ended for run in runs) + 1))
        row = {
            "invocation_id": self._id,
            "command": UNDO,
            "started_at": now.isoformat(),
            "ended_at": now.isoformat(),
            "succeeded": True,
            "models_written": len(restored),
            "model_runs": [],
            "checkpoints": [each.columns for each in checkpoints],
            "tables_written": [
                {"table": table, "table_id": t.now_id, "version_before": t.undone, "version": t.version}
                for table, t in restored.items()
            ],
            "failed_tests": [],
            "undone_runs": [run.id for run in reversed(plan.runs)],
            "dbt_version": dbt_version,
            "target": target_name(self._project.root),
            **provenance(self._project.root, {}),
        }
        self._state().append(row)

    def _state(self) -> State:
        return State(self._spark, self._project.ops_schema)

    def _of(self, table: str) -> Versions:
        if table not in self._versions:
            self._versions[table] = versions_of(self._spark, table)
        return self._versions[table]

    def _precedes(self, table: str, version: int, other: int) -> bool:
        return table_exists(self._spark, table) and self._of(table).precedes(version, other)


def _newest_first(plan: Plan) -> list[str]:
    """Return the tables, those that were written last before the others."""
    tables = [written.table for run in reversed(plan.runs) for written in reversed(run.written)]
    return list(dict.fromkeys(tables))
