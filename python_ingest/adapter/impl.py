"""The adapter: functions that macros call as `adapter.…`, in addition to those of dbt-spark."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.exceptions import DbtRuntimeError

from python_ingest.adapter import locks
from python_ingest.adapter.connections import TidemarkConnectionManager
from python_ingest.adapter.following import FollowingAdapter
from python_ingest.adapter.once import Once, once
from python_ingest.console.interrupts import end

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from python_ingest.adapter.model_columns import Column
    from python_ingest.incremental.plan import Plan
    from python_ingest.lake.delta_log import DeltaLog
    from python_ingest.project.model_way import Way


class TidemarkAdapter(FollowingAdapter):
    """dbt-spark's adapter for a lake.

    On a target with an embedded Spark, a command that uses Spark locks the lake when it starts. The
    embedded catalog serves one process, so a second command stops at once with a short message.
    """

    ConnectionManager = TidemarkConnectionManager

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        if self.is_embedded():
            locks.hold_lake(self.config.credentials.server_side_parameters)
        # Spark's log of a query that fails: JSON with a stack trace, beside dbt's own message
        logging.getLogger("SQLQueryContextLogger").disabled = True
        program = Path(sys.argv[0])
        is_dbt = program.name == "dbt" or program.parts[-3:] == ("dbt", "cli", "main.py")
        if is_dbt and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, end)  # dbt's own handler waits for Spark

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
        from python_ingest.lake.retention import retention

        return retention(self.table_format(), given)

    @available
    def delta_log(self, table: str) -> DeltaLog | None:
        """Return a table's log, or None for a target whose Spark is not in this process (decision 0019)."""
        if not self.is_embedded():
            return None
        from python_ingest.lake.delta_log import DeltaLog

        return DeltaLog(self._session(), table)

    @available
    def lock_tables(self, names: list[str]) -> list[str]:
        """Lock tables (`schema.table`) if the catalog is shared; return those to be unlocked later."""
        return locks.lock_tables(names)

    @available
    def lock_state(self, table: str) -> list[str]:
        """Lock a state table for one commit, as `lock_tables` does, but wait for other processes."""
        return locks.lock_state(table)

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
    def is_there(self, relation: BaseRelation) -> bool:
        """Return whether the catalog has a table or view; dbt would list all tables of the schema."""
        if not self.is_embedded():
            place = (relation.database, relation.schema, relation.identifier)
            return self.get_relation(*place) is not None  # type: ignore[arg-type]
        from python_ingest.lake.table_format import table_exists

        return table_exists(self._session(), f"{relation.schema}.{relation.identifier}")

    @available
    def config_of(self, unique_id: str) -> dict[str, Any]:
        """Return a node's config; this also works in unit tests, in which `graph` is empty."""
        config: dict[str, Any] = self.get_macro_resolver().nodes[unique_id].config.to_dict()  # type: ignore
        return config

    @available
    def reads_retracted(self, unique_id: str) -> bool:
        """Return whether a model reads a feed whose rows are retracted; this also works in unit tests."""
        manifest: Any = self.get_macro_resolver()
        read = (manifest.sources.get(each) for each in manifest.nodes[unique_id].depends_on.nodes)
        external = (source.external for source in read if source and source.external)
        return any(each.to_dict().get("on_removed") == "retract" for each in external)

    @available
    def code_of(self, unique_id: str) -> dict[str, Any]:
        """Return the parts of a node's code that can be compared (decision 0022)."""
        from python_ingest.project.model_code import code_of

        return code_of(self.get_macro_resolver(), unique_id)

    @available
    def model_way(self, unique_id: str, reads_by_macros: bool) -> Way:
        """Return how a model is written (decision 0037); the run knows how it reads."""
        from python_ingest.project.model_way import model_way

        return model_way(self.get_macro_resolver(), unique_id, reads_by_macros)

    @available
    def as_stock(self, config: Any, properties: dict[str, str]) -> None:
        """Complete the config of a model that dbt-spark's own materialization runs.

        Args:
            config: the `config` of the running model.
            properties: what a table of the lake's format needs, so that its changes can be read.
        """
        from python_ingest.project.model_way import stock_settings

        settings = config.model.config
        for name, value in stock_settings(settings.to_dict(), self.table_format()).items():
            settings[name] = value
        settings["tblproperties"] = {**properties, **(settings.get("tblproperties") or {})}

    @available
    def findings_of(self, unique_id: str) -> list[str]:
        """Return the parts of a model's SQL that make its table differ from a rebuild."""
        from python_ingest.sqlcheck.models import findings_of

        return [str(finding) for finding in findings_of(self.get_macro_resolver(), unique_id)]

    @available
    def columns_of_query(self, unique_id: str, sql: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return a query's columns as the model's table has them, or why it cannot have them.

        Args:
            unique_id: the model.
            sql: its query.
            settings: its `unique_key`, `newest_by` and `partition_by`, each a list, and its `tblproperties`.

        Returns:
            `types`, by name, without those of `helpers`, which say what to do with a row; `limited`, the
            columns of type char(n) or varchar(n); `keys` and `newest_by`, in the query's case; `refused`, a
            sentence, or an empty text.
        """
        from python_ingest.adapter.model_columns import described, may_have_helpers

        may_help = may_have_helpers(self.get_macro_resolver(), unique_id)
        return described(self._columns_of_query(sql), self.table_format(), settings, may_help=may_help)

    def _columns_of_query(self, sql: str) -> list[Column]:
        from python_ingest.adapter.model_columns import Column, columns_of_schema

        if not self.has_one_session():
            # a Thrift server's results name no precision and no fields of types
            rows = self._rows(f"describe query {sql}")
            return [Column(row["col_name"], row["data_type"]) for row in rows]
        _, cursor = self.connections.add_select_query(f"select * from ({sql}) where false")
        return columns_of_schema(cursor._cursor._df.schema)

    @available
    def same_values(self, left: str, right: str, types: dict[str, str]) -> str:
        """Return SQL that is true if two rows, given by their aliases, are to be stored alike."""
        from python_ingest.incremental.canonical import same

        return same(left, right, types, zeros=True)

    @available
    def any_of_equal(self, types: dict[str, str]) -> str:
        """Return SQL for the columns of rows that are grouped by `grouped_values`."""
        from python_ingest.incremental.canonical import any_of_equal

        return any_of_equal(types)

    @available
    def grouped_values(self, types: dict[str, str]) -> str:
        """Return SQL of the values by which equal rows are grouped, separated by commas."""
        from python_ingest.incremental.canonical import comparable, quoted

        return ", ".join(comparable(quoted(name), kind, zeros=True) for name, kind in types.items())

    @available
    def text_that_orders(self, newest_by: list[str], types: dict[str, str]) -> str | None:
        """Return the column of `newest_by` that orders versions as text, or None."""
        from python_ingest.sqlcheck.text_order import text_that_orders

        return text_that_orders(newest_by, types)

    @available
    def incremental_plan(self, sql: str, request: dict[str, Any]) -> Plan:
        """Return how a plain model's table is brought up to date (decision 0030).

        Args:
            sql: the model's query.
            request: the values of a `Request`.
        """
        from python_ingest.incremental.analysis import plan_of
        from python_ingest.incremental.plan import request_of
        from python_ingest.incremental.session_catalog import SessionCatalog
        from python_ingest.incremental.statement_catalog import StatementCatalog

        catalog = SessionCatalog(self._session()) if self.is_embedded() else StatementCatalog(self._rows)
        return plan_of(catalog, sql, request_of(request))

    @available
    def pinned(self, sql: str, readings: dict[str, str]) -> str:
        """Return a query in which each table (`schema.table`) is read by the given SQL."""
        from python_ingest.incremental.pinning import pinned

        return pinned(sql, readings)

    @available
    def compiled_test(self, ref: Any, unique_id: str, table: BaseRelation, stand_in: BaseRelation) -> str:
        """Return the SQL of a data test that reads another relation in the place of its table.

        Args:
            ref: dbt's `ref` of the running node.
            unique_id: the test.
            table: the table that the test names.
            stand_in: what it reads instead.
        """
        from python_ingest.adapter.audit import compiled_test

        return compiled_test(ref, unique_id, table, stand_in)

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
    def keep_once(self, known: dict[str, Once], name: str, sql: str) -> str:
        """Create a view whose rows Spark computes once, unless it exists already; return its name.

        Args:
            known: the views that exist in this command, by name.
            name: the view's name.
            sql: its query.
        """
        once(known, name, lambda: self.execute(f"cache lazy table {name} as {sql}"))
        return name

    @available
    def map_of(self, value: Any) -> dict[str, str | None]:
        """Return a map of a result, which may be a text; an empty one for NULL."""
        from python_ingest.adapter.map_text import map_of

        return map_of(value) if isinstance(value, str) else value or {}

    @available
    def drop_view(self, name: str) -> None:
        """Drop a temporary view and its cached rows; a missing view is not an error."""
        if self.is_embedded():
            self._session().catalog.dropTempView(name)
        else:
            self.execute(f"drop view if exists {name}")
