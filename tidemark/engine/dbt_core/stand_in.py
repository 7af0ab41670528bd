"""An adapter that stands in for that of a project: it compiles models, and has no database."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any

from dbt.adapters.base.plugin import AdapterPlugin
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse, Credentials
from dbt.adapters.contracts.relation import Policy, RelationType
from dbt.adapters.factory import FACTORY
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import SparkAdapter
from dbt.include import spark
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.exceptions import DbtRuntimeError

PARENTS = {"databricks": ("spark",), "redshift": ("postgres",)}  # whose macros an adapter takes, too
BACKTICKS = ("bigquery", "databricks", "spark", "tidemark", "clickhouse", "mysql")
Columns = Mapping[str, Mapping[str, str]]  # by view: types by column
Ask = Callable[[str], tuple[Sequence[str], Sequence[Sequence[Any]]] | None]


def view_of(database: str | None, schema: str | None, identifier: str | None) -> str:
    """Return the name of the view that stands for a relation."""
    parts = [part for part in (database, schema, identifier) if part]
    return "__".join(re.sub(r"\W", "_", part.strip('`"')).lower() for part in parts)


@dataclass
class StandInCredentials(Credentials):
    """Names alone: there is nothing to connect to."""

    kind: str = ""

    @property
    def type(self) -> str:
        """The adapter's type."""
        return self.kind

    @property
    def unique_field(self) -> str:
        """Nothing identifies it."""
        return self.kind

    def _connection_keys(self) -> tuple[str, ...]:
        return ("schema",)


@dataclass(frozen=True, eq=False, repr=False)
class ViewRelation(BaseRelation):
    """A relation whose text in SQL is the name of the view that stands for it."""

    quote_policy: Policy = field(default_factory=Policy)

    def render(self) -> str:
        """Return the quoted name of the view."""
        name = view_of(self.database, self.schema, self.identifier)
        return f"{self.quote_character}{name}{self.quote_character}"


@dataclass(frozen=True, eq=False, repr=False)
class BacktickRelation(ViewRelation):
    """The same for a dialect that quotes by backticks."""

    quote_character: str = "`"


class StandIn(SparkAdapter):
    """Answers what models ask while dbt compiles them.

    Attributes:
        kind: the type of the adapter that it stands for.
        columns: the columns of views, for `get_columns_in_relation`.
        built: the views of the tables that are there, for `is_incremental()`.
        ask: runs a query, and returns the names of its columns and its rows; None if it reads a table.
    """

    kind = ""
    columns: Columns = MappingProxyType({})
    built: frozenset[str] = frozenset()
    ask: Ask = staticmethod(lambda _: None)

    @classmethod
    def type(cls) -> str:
        """The adapter's type."""
        return cls.kind

    @classmethod
    def quote(cls, identifier: str) -> str:
        """Quote a name as the dialect does."""
        sign = "`" if cls.kind in BACKTICKS else '"'
        return f"{sign}{identifier}{sign}"

    def get_relation(self, database: str, schema: str, identifier: str) -> BaseRelation | None:
        """Return a table that is there."""
        name = view_of(database, schema, identifier)
        if name not in self.built and name not in self.columns:
            return None
        return self.Relation.create(
            database=database, schema=schema, identifier=identifier, type=RelationType.Table
        )

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """Return the columns of a view, as far as they are known."""
        name = view_of(relation.database, relation.schema, relation.identifier)
        return [SparkColumn(column, kind) for column, kind in self.columns.get(name, {}).items()]

    def execute(self, sql: str, *_args: Any, **_options: Any) -> tuple[AdapterResponse, Any]:
        """Run a query that reads no table; what another would give depends on the rows of each run."""
        found = self.ask(sql)
        if found is None:
            raise DbtRuntimeError(f"it reads rows while dbt compiles it: {' '.join(sql.split())[:80]}")
        names, rows = found
        table = table_from_data_flat([dict(zip(names, row, strict=True)) for row in rows], names)
        return AdapterResponse("OK"), table


def install(kind: str, catalog: str, schema: str) -> tuple[StandInCredentials, Callable[[Any], StandIn]]:
    """Register a stand-in with dbt.

    Args:
        kind: the type of the project's adapter.
        catalog: the database of its target.
        schema: the schema of its target.

    Returns:
        The credentials of a profile, and what makes the adapter from dbt's configuration.
    """
    relation = BacktickRelation if kind in BACKTICKS else ViewRelation
    own = type("StandInOfProject", (StandIn,), {"kind": kind, "Relation": relation})
    for name in (kind, *PARENTS.get(kind, ())):
        adapter = own if name == kind else type("StandInOfParent", (StandIn,), {"kind": name})
        FACTORY.plugins[name] = AdapterPlugin(
            adapter,
            StandInCredentials,
            spark.PACKAGE_PATH,
            list(PARENTS.get(name, ())),
            f"dbt_{name}",
        )

    def adapter_for(config: Any) -> StandIn:
        adapter: StandIn = own(config, get_context("spawn"))
        FACTORY.adapters[kind] = adapter  # type: ignore[assignment]
        return adapter

    return StandInCredentials(database=catalog, schema=schema, kind=kind), adapter_for
