"""The adapter: functions that macros call as `adapter.…`, in addition to those of dbt-spark."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.flags import get_flags
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.exceptions import DbtRuntimeError

from tidemark.base.interrupts import end
from tidemark.engine.adapter import locks, shown_seeds, staged
from tidemark.engine.adapter.around_hooks import attach
from tidemark.engine.adapter.columns import LakeColumn, described, lake_columns
from tidemark.engine.adapter.connections import TidemarkConnectionManager
from tidemark.engine.adapter.once import Once, once
from tidemark.engine.adapter.stages import StagesAdapter
from tidemark.engine.adapter.traces import hide_own_macros
from tidemark.lake.cached_view import drop_cached_view

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.lake.delta_log import DeltaLog

SIGNING = threading.Lock()


class TidemarkAdapter(StagesAdapter):
    """dbt-spark's adapter for a lake.

    On a target with an embedded Spark, a command that uses Spark locks the lake when it starts. The
    embedded catalog serves one process, so a second command stops at once with a short message.
    """

    ConnectionManager = TidemarkConnectionManager
    Column = LakeColumn
    # `dbt source freshness` without `loaded_at_field`: get_relation_last_modified.sql
    _capabilities = CapabilityDict({Capability.TableLastModifiedMetadata: CapabilitySupport(Support.Full)})

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        attach()
        shown_seeds.attach()
        staged.attach()
        if self.is_embedded():
            locks.hold_lake(self.config.credentials.server_side_parameters)
        # Spark logs a failed query as JSON with a stack trace, in addition to dbt's message
        logging.getLogger("SQLQueryContextLogger").disabled = True
        hide_own_macros()
        program = Path(sys.argv[0])
        is_dbt = program.name == "dbt" or program.parts[-3:] == ("dbt", "cli", "main.py")
        if is_dbt and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, end)  # dbt's own handler waits for Spark

    def get_columns_in_relation(self, relation: BaseRelation) -> list[LakeColumn]:  # type: ignore[override]
        """Return the columns of a table, which know Spark's types; also with `--empty` and `--sample`."""
        table = replace(relation, limit=None, event_time_filter=None)
        return lake_columns(super().get_columns_in_relation(table))

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Return the tables and views of a schema, without the session's temporary views."""
        return [each for each in super().list_relations_without_caching(schema_relation) if each.schema]

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterator[dict[str, Any]]:
        """Yield the columns of a table for the catalog of `dbt docs`, with their comments and the table's.

        For a view, dbt-spark has other names of types, such as `long`.
        """
        rows = self.execute_macro("get_columns_in_relation_raw", kwargs={"relation": relation})
        of_table, columns = described(tuple(row) for row in rows)
        for column in super()._get_columns_for_catalog(relation):
            kind, comment = columns[column["column_name"].lower()]
            yield {**column, "column_type": kind, "column_comment": comment, "table_comment": of_table}

    def submit_python_job(self, parsed_model: dict[str, Any], compiled_code: str) -> Any:
        """Refuse Python models where dbt-spark would look for a cluster of Databricks."""
        if self.config.credentials.method == "session":
            raise DbtRuntimeError(
                f"{parsed_model['original_file_path']}: dbt-spark runs Python models on clusters of "
                "Databricks only, and this target has `method: session`. Write the model in SQL."
            )
        return super().submit_python_job(parsed_model, compiled_code)

    @available
    def is_limited(self) -> bool:
        """Return whether this command gives models only a part of their rows: `--empty` or `--sample`."""
        flags: Any = get_flags()  # type: ignore[no-untyped-call]
        return bool(getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None))

    @available
    def defers(self, to_unselected: bool = False) -> bool:
        """Return whether this command has `--defer`; with `to_unselected`, whether it has `--favor-state`."""
        flags: Any = get_flags()  # type: ignore[no-untyped-call]
        return bool(getattr(flags, "FAVOR_STATE" if to_unselected else "DEFER", False))

    @available
    def has_one_session(self) -> bool:
        """Return whether all statements of this command go through one session of Spark."""
        return bool(self.config.credentials.has_one_session)

    @available
    def setting(self, name: str) -> str | None:
        """Return a Spark setting from the profile, or None if the profile does not set it."""
        return (self.config.credentials.server_side_parameters or {}).get(name)

    @available
    def table_format(self) -> str:
        """Return the format of the lake's tables: `delta` or `iceberg`."""
        given = self.setting("spark.sql.sources.default") if self.is_embedded() else None
        return given or str(self.config.credentials.table_format)

    @available
    def retention(self, given: Collection[str] = ()) -> dict[str, str]:
        """Return the properties by which a table keeps old versions, unless one of them is given."""
        from tidemark.lake.retention import retention

        return retention(self.table_format(), given)

    @available
    def delta_log(self, table: str) -> DeltaLog | None:
        """Return a table's log, or None for a target whose Spark is not in this process (decision 0019)."""
        if not self.is_embedded():
            return None
        from tidemark.lake.delta_log import DeltaLog

        return DeltaLog(self._session(), table)

    @available
    def lock_tables(self, names: list[str]) -> list[str]:
        """Lock tables (`schema.table`) if the catalog is shared; return those to be unlocked later."""
        return locks.lock_tables(names)

    @available
    def unlock_tables(self, names: list[str]) -> None:
        """Unlock tables that `lock_tables` returned."""
        locks.unlock_tables(names)

    @available
    def set_for_session(self, name: str, value: str | None = None) -> None:
        """Set a setting of the one session for the statements of this command; unset it for None."""
        settings = self._session().conf
        if value is None:
            settings.unset(name)
        else:
            settings.set(name, value)

    @available
    def run_signed(self, statements: list[str], name: str, value: str) -> None:
        """Run statements whose commits carry a signature, outside of the commands that sign all of them.

        Args:
            statements: one after the other.
            name: the setting whose value each commit carries.
            value: the signature.
        """
        with SIGNING:  # one session has one value
            if self.has_one_session():
                self.set_for_session(name, value)
            try:
                for statement in statements:
                    self.execute(statement)
            finally:
                if self.has_one_session():
                    self.set_for_session(name)

    @available
    def tables_like(self, schema: str, table: str, exclude: str = "") -> list[tuple[str, str, str]]:
        """Return schema, name and type of the tables and views whose names are like patterns of SQL.

        Args:
            schema: the pattern of the schema; letter case does not count.
            table: the pattern of the table.
            exclude: the pattern of tables to be left out.
        """
        from tidemark.engine.adapter.name_patterns import is_like

        schemas = sorted(name for name in self.list_schemas("") if is_like(name, schema))
        lists = [self.list_relations(None, name) for name in schemas]
        found = [(one.schema or "", one.identifier or "", str(one.type)) for each in lists for one in each]
        return sorted(one for one in found if is_like(one[1], table) and not is_like(one[1], exclude))

    @available
    def no_failures(self) -> Any:
        """Return the result of dbt's test query for a test without failing rows."""
        none = {"failures": 0, "should_warn": False, "should_error": False}
        return table_from_data_flat([none], list(none))

    @available
    def first_row(self, known: dict[str, Once], sql: str) -> dict[str, Any] | None:
        """Return the first row of a query, which runs once per command; None if it fails.

        Args:
            known: the queries that have run in this command.
            sql: the query.
        """

        def look() -> dict[str, Any] | None:
            with suppress(DbtRuntimeError):
                return self._rows(sql)[0]
            return None

        row: dict[str, Any] | None = once(known, sql, look)
        return row

    @available
    def cache_once(self, known: dict[str, Once], name: str, sql: str) -> str:
        """Create a view whose rows Spark computes once, unless it exists already; return its name.

        Args:
            known: the views that exist in this command, by name.
            name: the view's name.
            sql: its query.
        """
        once(known, name, lambda: self.execute(f"cache lazy table {name} as {sql}"))
        return name

    @available
    def drop_view(self, name: str) -> None:
        """Drop a temporary view and its cached rows; a missing view is not an error."""
        if self.is_embedded():
            drop_cached_view(self._session(), name)
        else:
            self.execute(f"drop view if exists {name}")
