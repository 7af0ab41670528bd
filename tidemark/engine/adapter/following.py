"""What the adapter's macros ask about dbt's model settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.base.meta import available
from dbt_common.exceptions import DbtRuntimeError

from tidemark.engine.adapter.deciding import DecidingAdapter
from tidemark.engine.adapter.model_settings import columns_named, refusals
from tidemark.engine.adapter.schema_change import Columns, Step, step_of
from tidemark.engine.adapter.setting_checks import Model, grants, sql_header
from tidemark.engine.decision.ways import REFUSED_MICROBATCH, Way
from tidemark.engine.project.model_way import model_way
from tidemark.engine.project.sql_header import statements_of

MADE_BY_DBT = ("table", "snapshot")
ONE_CATALOG = (
    "All tables are in the catalog of the target: remove it, and set table_format and the catalog in "
    "profiles.yml (docs/formats.md)."
)


class FollowingAdapter(DecidingAdapter):
    """An adapter that follows a model's settings, or refuses them before anything is written."""

    def set_macro_resolver(self, macro_resolver: Any) -> None:
        """Keep dbt from running the batches of a microbatch model that is refused: each would say ERROR."""
        for node in getattr(macro_resolver, "nodes", {}).values():
            if node.resource_type == "model" and node.config.get("incremental_strategy") == "microbatch":
                way = model_way(macro_resolver, node.unique_id)
                if way.refused or refusals(self._model(node.config.to_dict(), way)):
                    node.config.incremental_strategy = REFUSED_MICROBATCH
        super().set_macro_resolver(macro_resolver)

    def pre_model_hook(self, config: Any) -> Any:
        """Give tables and snapshots the lake's format, and keep a snapshot from ending rows outside a sample.

        dbt-spark's default is parquet: it refuses such snapshots, and drops a table before it creates it.

        Raises:
            DbtRuntimeError: for a snapshot that ends deleted rows, if the command reads a part of the rows;
                and for a node that names a catalog, or has grants that this Spark does not know.
        """
        lake: Any = self
        if catalog := config.get("catalog_name"):
            raise DbtRuntimeError(f"{config.model.name}: catalog_name is {catalog}. {ONE_CATALOG}")
        given = Model({"grants": config.get("grants")}, has_one_session=lake.has_one_session())
        # an incremental model reports this together with its other errors
        if config.get("materialized") != "incremental" and (refused := grants(given)):
            raise DbtRuntimeError(f"{config.model.original_file_path}: {refused}")
        if config.get("materialized") in MADE_BY_DBT and not config.get("file_format"):
            config.model.config["file_format"] = lake.table_format()
        ends_rows = config.get("hard_deletes") in ("invalidate", "new_record")
        if config.get("materialized") == "snapshot" and (ends_rows or config.get("invalidate_hard_deletes")):
            node = config.model
            table = lake.Relation.create(schema=node.schema, identifier=node.alias)
            if lake.is_limited() and lake.is_there(table):
                raise DbtRuntimeError(
                    f"{node.name}: the command reads a part of the rows, and hard_deletes would end all the "
                    "others. Leave snapshots out (`--exclude-resource-type snapshot`), or use another schema."
                )
        return super().pre_model_hook(config)

    def add_catalog_integration(self, catalog_integration: Any) -> Any:
        """Refuse `catalogs.yml`, whose catalogs no statement of a run would use."""
        raise DbtRuntimeError(f"catalogs.yml names the catalog {catalog_integration.name}. {ONE_CATALOG}")

    @available
    def refused_settings(self, config: Mapping[str, Any], way: Way) -> list[str]:
        """Return a sentence for each setting that a model cannot follow.

        Args:
            config: the model's config.
            way: how its table is written.
        """
        return refusals(self._model(config, way))

    @available
    def refused_header(self, config: Mapping[str, Any]) -> str:
        """Return why a table cannot have its `sql_header`, and what to do; empty if it can.

        Args:
            config: the model's config.
        """
        target: Any = self
        return sql_header(Model(config, target.table_format(), is_stock=True))

    @available
    def header_statements(self, header: str | None) -> list[str]:
        """Return the statements of a `sql_header`."""
        return statements_of(header)

    @available
    def columns_named(self, names: list[str], columns: list[str]) -> list[str]:
        """Return the names of a setting as the query spells its columns."""
        return columns_named(list(names), list(columns))

    @available
    def schema_step(
        self, table: Mapping[str, str], query: Mapping[str, str], setting: str | None, rebuilds: bool
    ) -> Step:
        """Return what a run does if its query has other columns than its table.

        Args:
            table: the types of the table's columns by name.
            query: the types of the query's columns by name.
            setting: the model's `on_schema_change`.
            rebuilds: whether the run can compute all rows of the table.
        """
        return step_of(Columns(table, query), setting, rebuilds)

    def _model(self, config: Mapping[str, Any], way: Way) -> Model:
        target: Any = self
        return Model(config, target.table_format(), way.is_stock, target.has_one_session())
