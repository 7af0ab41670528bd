"""What macros ask about a model: its settings, its code, and how it is brought up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available

from tidemark.engine.adapter.locks import as_errors_of_dbt
from tidemark.engine.adapter.writing import WritingAdapter

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.engine.adapter.model_columns import Column
    from tidemark.engine.decision.ways import Way
    from tidemark.engine.incremental.analysis import Spark
    from tidemark.engine.incremental.plan import Plan


class ModelsAdapter(WritingAdapter):
    """The part of the adapter that knows dbt's manifest."""

    @available
    def config_of(self, unique_id: str) -> dict[str, Any]:
        """Return a node's config; this also works in unit tests, in which `graph` is empty."""
        config: dict[str, Any] = self.get_macro_resolver().nodes[unique_id].config.to_dict()  # type: ignore
        return config

    @available
    def reads_retracted(self, unique_id: str) -> bool:
        """Return whether a model reads a feed whose rows are retracted; this also works in unit tests."""
        from tidemark.engine.project.nodes import sources_below

        manifest: Any = self.get_macro_resolver()
        read = sources_below(manifest, manifest.nodes[unique_id])
        external = (source.external for source in read if source.external)
        return any(each.to_dict().get("on_removed") == "retract" for each in external)

    @available
    def staged_changes(self, ref: Any, source: Any, name: str, changes: Any) -> str:
        """Return the changes of a staging model, as a query in parentheses.

        Args:
            ref: dbt's `ref` of the running node.
            source: its `source`.
            name: the staging model, as `ref()` names it in the query.
            changes: the macro `changes` of the running node.
        """
        from tidemark.engine.adapter.staged import staged_changes

        with as_errors_of_dbt():
            return staged_changes(ref, source, name, changes)

    @available
    def code_of(self, unique_id: str) -> dict[str, Any]:
        """Return the parts of a node's code that can be compared (decision 0022)."""
        from tidemark.engine.project.model_code import code_of

        return code_of(self.get_macro_resolver(), unique_id)

    @available
    def model_way(self, unique_id: str, reads_by_macros: bool) -> Way:
        """Return how a model is written (decision 0037); the run knows how it reads."""
        from tidemark.engine.project.model_way import model_way

        return model_way(self.get_macro_resolver(), unique_id, reads_by_macros)

    @available
    def as_stock(self, config: Any, table_format: str, properties: dict[str, str]) -> None:
        """Complete the config of a model that dbt-spark's own materialization runs.

        Args:
            config: the `config` of the running model.
            table_format: of the lake's tables.
            properties: what a table of the lake's format needs, so that its changes can be read.
        """
        from tidemark.engine.decision.ways import stock_settings

        settings = config.model.config
        for name, value in stock_settings(settings.to_dict(), table_format).items():
            settings[name] = value
        settings["tblproperties"] = {**properties, **(settings.get("tblproperties") or {})}

    @available
    def findings_of(self, unique_id: str) -> list[str]:
        """Return the parts of a model's SQL that make its table differ from a rebuild."""
        from tidemark.engine.sqlcheck.models import findings_of

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
        from tidemark.engine.adapter.model_columns import described, may_have_helpers

        target: Any = self
        may_help = may_have_helpers(self.get_macro_resolver(), unique_id)
        return described(self._columns_of_query(sql), target.table_format(), settings, may_help=may_help)

    def _columns_of_query(self, sql: str) -> list[Column]:
        from tidemark.engine.adapter.model_columns import Column, columns_of_schema

        if not self.config.credentials.has_one_session:
            # a Thrift server's results name no precision and no fields of types
            rows = self._rows(f"describe query {sql}")
            return [Column(row["col_name"], row["data_type"]) for row in rows]
        _, cursor = self.connections.add_select_query(f"select * from (\n{sql}) where false")
        return columns_of_schema(cursor._cursor._df.schema)

    @available
    def any_of_equal(self, types: dict[str, str]) -> str:
        """Return SQL for the columns of rows that are grouped by `grouped_values`."""
        from tidemark.engine.incremental.canonical import any_of_equal

        return any_of_equal(types)

    @available
    def grouped_values(self, types: dict[str, str]) -> str:
        """Return SQL of the values by which equal rows are grouped, separated by commas."""
        from tidemark.engine.incremental.canonical import grouped_values

        return grouped_values(types)

    @available
    def text_that_orders(self, newest_by: list[str], types: dict[str, str]) -> str | None:
        """Return the column of `newest_by` that orders versions as text, or None."""
        from tidemark.engine.sqlcheck.text_order import text_that_orders

        return text_that_orders(newest_by, types)

    @available
    def incremental_plan(self, sql: str, request: dict[str, Any]) -> Plan:
        """Return how a plain model's table is brought up to date (decision 0030).

        Args:
            sql: the model's query.
            request: the values of a `Request`.
        """
        from tidemark.engine.incremental.analysis import plan_of
        from tidemark.engine.incremental.request import request_of

        return plan_of(self._catalog(), sql, request_of(request))

    @available
    def proven_key(self, sql: str, types: dict[str, str], known: dict[str, list[str]]) -> list[str]:
        """Return the key that a query itself proves, or no column.

        Args:
            sql: the query.
            types: the types of its columns.
            known: what `keys_below` returns.
        """
        from tidemark.engine.incremental.analysis import key_of

        return key_of(self._catalog(), sql, types, known)

    @available
    def keys_below(self, unique_id: str, deferred: list[str]) -> dict[str, list[str]]:
        """Return the keys of the tables that a model without a key reads, by `schema.table`.

        Args:
            unique_id: the model.
            deferred: the nodes in whose place it reads tables of another state, whose keys are not known.
        """
        from tidemark.engine.project.model_way import keys_below

        return keys_below(self.get_macro_resolver(), unique_id, deferred)

    @available
    def pinned(self, sql: str, readings: dict[str, str]) -> str:
        """Return a query in which each table (`schema.table`) is read by the given SQL."""
        from tidemark.engine.incremental.pinning import pinned

        return pinned(sql, readings)

    @available
    def over_gained_rows(
        self, sql: str, gained: dict[str, str], others: dict[str, str], size: int | None
    ) -> str:
        """Return the query of a data test over the rows that its table gained; empty if it needs all rows.

        Args:
            sql: the query.
            gained: by `schema.table`, what reads the rows that the changed table gained.
            others: the same for the other tables, with all their rows.
            size: the bytes of the changed table, or None.
        """
        from tidemark.engine.incremental.row_by_row import over_gained_rows

        return over_gained_rows(self._catalog(), sql, gained, others, size)

    @available
    def compiled_test(self, ref: Any, unique_id: str, table: BaseRelation, stand_in: BaseRelation) -> str:
        """Return the SQL of a data test that reads another relation in the place of its table.

        Args:
            ref: dbt's `ref` of the running node.
            unique_id: the test.
            table: the table that the test names.
            stand_in: what it reads instead.
        """
        from tidemark.engine.adapter.audit import compiled_test

        return compiled_test(ref, unique_id, table, stand_in)

    def _catalog(self) -> Spark:
        from tidemark.engine.incremental.session_catalog import SessionCatalog
        from tidemark.engine.incremental.statement_catalog import StatementCatalog

        return SessionCatalog(self._session()) if self.is_embedded() else StatementCatalog(self._rows)
