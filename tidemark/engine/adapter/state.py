"""What macros ask about the state of models: checkpoints, contracts, and the record of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available

from tidemark.base.errors import TidemarkError
from tidemark.engine.adapter.locks import as_errors_of_dbt, lock_state, unlock_tables
from tidemark.engine.adapter.past import PastAdapter
from tidemark.engine.checkpoints import layout
from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract
from tidemark.engine.decision.costs import NUMBER, Measured, by_model

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation


class StateAdapter(PastAdapter):
    """The part of the adapter that reads and writes `ops.runs`, with the SQL of `engine/checkpoints`."""

    @available
    def open_state(self, runs: BaseRelation, table_format: str) -> None:
        """Create `ops.runs` and its views, or bring them to this version's layout.

        Args:
            runs: the table.
            table_format: `delta` or `iceberg`.

        Raises:
            DbtRuntimeError: if a newer version wrote the table, or a view is a table of an early version.
        """
        with as_errors_of_dbt(), _locked(runs):
            columns = self._columns(runs)
            views = [self.Relation.create(schema=runs.schema, identifier=name) for name in layout.VIEWS]
            present = [view for view in views if self.is_there(view)]
            for view in (view for view in present if self.is_a_table(view)):
                raise TidemarkError(
                    f"{view} is a table of an earlier version of Tidemark; it is now a view of {runs}.",
                    f"Drop it (`drop table {view}`). The next run then reads all sources whole, once.",
                )
            names = [str(view.identifier) for view in present]
            for statement in layout.opening_statements(str(runs), columns, names, table_format):
                self.execute(statement)

    @available
    def read_checkpoints(self, runs: BaseRelation) -> Checkpoints:
        """Return the newest checkpoints, or with `as_of` those at the end of a run.

        Args:
            runs: the table `ops.runs`.

        Raises:
            DbtRuntimeError: if a newer version wrote the table.
        """
        with as_errors_of_dbt():
            fields = layout.fields_of(self._columns(runs) or {})
            if not fields:
                return Checkpoints()
            where = f"unix_micros(ended_at) <= {self.past_end()}" if self.reads_past() else "true"
            return Checkpoints(map(Checkpoint.of, self._rows(layout.newest_query(str(runs), fields, where))))

    @available
    def measured_runs(self, runs: BaseRelation) -> dict[str, list[Measured]]:
        """Return the newest runs of each model (`schema.name`), newest first.

        Args:
            runs: the table `ops.runs`.
        """
        return by_model(self._rows(layout.measured_query(str(runs), NUMBER)))

    @available
    def contract(self, **fingerprints: str) -> Contract:
        """Return what a model or test declares, and its code, from their fingerprints."""
        return Contract(**fingerprints)

    @available
    def record_run(self, runs: BaseRelation, row: Mapping[str, Any]) -> None:
        """Record a command, in one commit.

        Args:
            runs: the table `ops.runs`.
            row: the values by column; timestamps in ISO 8601 format.
        """
        with _locked(runs):
            self.execute(layout.insert_statement(str(runs), row))

    @available
    def is_there(self, relation: BaseRelation) -> bool:
        """Return whether the catalog has a table or view; dbt would list all tables of the schema."""
        if not self.is_embedded():
            place = (relation.database, relation.schema, relation.identifier)
            return self.get_relation(*place) is not None  # type: ignore[arg-type]
        from tidemark.lake.table_format import table_exists

        return table_exists(self._session(), f"{relation.schema}.{relation.identifier}")

    @available
    def is_a_table(self, relation: BaseRelation) -> bool:
        """Return whether a table or view of the catalog is a table; dbt would list all of the schema."""
        if not self.is_embedded():
            found = self.get_relation(relation.database, relation.schema, relation.identifier)  # type: ignore[arg-type]
            return found is not None and found.type == "table"
        catalog = self._session().catalog
        name = f"{catalog.currentCatalog()}.{relation.schema}.{relation.identifier}"
        return bool(catalog.getTable(name).tableType != "VIEW")

    def _columns(self, runs: BaseRelation) -> dict[str, str] | None:
        """Return the types of the columns of `ops.runs`; None if there is no table."""
        if not self.is_there(runs):
            return None
        if self.is_embedded():
            rows = self._session().table(f"{runs.schema}.{runs.identifier}")
            columns = {each.name: each.dataType.simpleString() for each in rows.schema}
        else:
            columns = {str(each.column): str(each.dtype) for each in self.get_columns_in_relation(runs)}
        newest = f"select max_by(tidemark_version, started_at) as version from {runs}"
        layout.refuse_newer(str(runs), columns, lambda: self._rows(newest)[0]["version"])
        return columns


@contextmanager
def _locked(runs: BaseRelation) -> Iterator[None]:
    locks = lock_state(f"{runs.schema}.{runs.identifier}")
    try:
        yield
    finally:
        unlock_tables(locks)
