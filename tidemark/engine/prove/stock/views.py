"""The relations of a project as views in a Spark session, as the project's SQL makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from sqlglot import exp

from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.foreign_project import ForeignProject
from tidemark.engine.prove.counterexample import given_as
from tidemark.engine.prove.stock.chains import Chain, Untried, reason_of
from tidemark.engine.prove.stock.dialect import Query, UntranslatedError, translated
from tidemark.engine.prove.stock.history import FIRST
from tidemark.engine.prove.stock.inputs import Declared
from tidemark.engine.prove.stock.settings import UnsupportedSettingError, settings_of
from tidemark.engine.prove.stock.usage import filtered_tables, guessed_type, usage_of
from tidemark.engine.prove.tables import values_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# what a model reads is computed from its own sources: an incremental model as its full refresh
COMPUTED = ("view", "table", "ephemeral", "incremental", "materialized_view", "dynamic_table")


class Project:
    """The relations of a project as views in a Spark session, without rows."""

    def __init__(
        self, spark: SparkSession, project: ForeignProject, file: Path, models: Sequence[Any]
    ) -> None:
        """Make a view of each relation that some models read.

        Args:
            spark: a session whose temporary views are free.
            project: the project.
            file: its manifest.json.
            models: the nodes of the models.
        """
        self._spark = spark
        self._project = project
        self._declared = Declared(project, file)
        self._columns: dict[str, dict[str, str]] = {}
        self._queries: dict[str, Query] = {}
        self._failed: dict[str, str] = {}
        self._guessed: set[str] = set()
        self._replaced: Any = None  # the model whose view has rows of its table
        project.answer(self._answer)
        self._nodes = list(self._ancestors(models))
        for node in self._nodes:
            if node.resource_type != "model":
                self._columns[project.view(node)] = self._declared.columns(node)
        for node in self._nodes:
            self._translate(node)
        self._guess()
        for node in self._nodes:  # macros ask for the columns of what a model reads
            self._translate(node)
            self._show(node)

    def chain(self, node: Any) -> Chain | Untried:
        """Return a model with what it reads, or why it cannot be tried."""
        view = self._project.view(node)
        if self._replaced is not None:
            self._show(self._replaced)
        self._replaced = node
        try:
            settings = settings_of(node, self._project.kind)
            needed = list(self._ancestors([node], computed=True))
            for one in needed:
                if why := self._failed.get(self._project.view(one)):
                    own = one.unique_id == node.unique_id
                    return Untried(node.name, why if own else f"it reads {one.name}: {why}")
            groups = any(self._groups(one) for one in needed)
            inputs = {
                self._project.view(one): self._declared.input(
                    one,
                    self._columns[self._project.view(one)],
                    settings.key,
                    groups=groups,
                    guessed=self._project.view(one) in self._guessed,
                )
                for one in needed
                if one.unique_id != node.unique_id and not self._is_computed(one)
            }
            if not inputs:
                return Untried(node.name, "it reads no table")
            incremental = self._compiled(node, incremental=True)
            types = self._columns[view]
            self._spark.sql(values_sql([], types)).createOrReplaceTempView(view)
            self._spark.sql(incremental.at(FIRST.isoformat(sep=" "))).schema  # noqa: B018
        except UnsupportedSettingError as error:
            return Untried(node.name, str(error))
        except (TidemarkError, UntranslatedError, PySparkException) as error:
            return Untried(node.name, reason_of(error))
        kind = self._project.kind
        manifest = self._project.manifest
        parents = (manifest.sources.get(one) or manifest.nodes[one] for one in node.depends_on_nodes)
        given = {self._project.view(one): given_as(one) for one in parents}
        full = self._queries[view]
        below = tuple(
            (name, self._queries[name], self._columns[name])
            for one in needed
            if (name := self._project.view(one)) != view
            and getattr(one.config, "materialized", "") == "incremental"
        )
        filtered = filtered_tables(full.tree, incremental.tree, self._trees(but=view)) & inputs.keys()
        return Chain(
            node.name, view, kind, full, incremental, types, settings, inputs, given, filtered, below
        )

    def _ancestors(self, models: Sequence[Any], *, computed: bool = False) -> Iterator[Any]:
        """Yield models and what they read, each after what it reads itself."""
        seen: set[str] = set()
        manifest = self._project.manifest

        def visit(name: str) -> Iterator[Any]:
            node = manifest.sources.get(name) or manifest.nodes.get(name)
            if node is None or name in seen:
                return
            seen.add(name)
            if not computed or self._is_computed(node):
                for parent in getattr(node, "depends_on_nodes", ()):
                    yield from visit(parent)
            yield node

        for one in models:
            yield from visit(one.unique_id)

    def _is_computed(self, node: Any) -> bool:
        return node.resource_type == "model" and node.config.materialized in COMPUTED

    def _compiled(self, node: Any, *, incremental: bool = False) -> Query:
        if str(getattr(node, "language", "sql")) not in ("sql", "ModelLanguage.sql"):
            raise UntranslatedError("it is a Python model")
        sql = self._project.compiled(node, self._columns, incremental=incremental)
        return translated(sql, self._project.kind)

    def _translate(self, node: Any) -> None:
        if node.resource_type != "model":
            return
        view = self._project.view(node)
        self._failed.pop(view, None)
        try:
            self._queries[view] = self._compiled(node)
        except (TidemarkError, UntranslatedError) as error:
            self._failed[view] = reason_of(error)

    def _guess(self) -> None:
        """Guess the columns of tables that no one declared, from the queries that read them."""
        unknown = {
            self._project.view(node): node
            for node in self._nodes
            if node.resource_type != "model" and not self._columns[self._project.view(node)]
        }
        trees = self._trees()
        known = {view: columns for view, columns in self._columns.items() if columns}
        found = usage_of(trees, known).columns
        for view, node in unknown.items():
            described = self._declared.names(node)
            used = found.get(view, {})
            names = dict.fromkeys([*described, *used])
            self._columns[view] = {
                name: described.get(name) or guessed_type(name, used.get(name, ())) for name in names
            }
            self._guessed.add(view)

    def _answer(self, sql: str) -> tuple[list[str], list[Any]] | None:
        """Run a query of a macro that reads no table, such as one for the length of a calendar."""
        try:
            query = translated(sql, self._project.kind)
            if query.tree is None or query.tree.find(exp.Table):
                return None
            found = self._spark.sql(query.at(FIRST.isoformat(sep=" ")))
            return found.columns, [tuple(row) for row in found.collect()]
        except (UntranslatedError, PySparkException):
            return None

    def _groups(self, node: Any) -> bool:
        """Return whether a model gives a row for several of those that it reads."""
        query = self._queries.get(self._project.view(node))
        kinds = (exp.Group, exp.Distinct, exp.AggFunc, exp.Window)
        return query is not None and (query.tree is None or query.tree.find(*kinds) is not None)

    def _trees(self, but: str = "") -> dict[str, Any]:
        return {view: query.tree for view, query in self._queries.items() if view != but}

    def _show(self, node: Any) -> None:
        """Make an empty view of a relation, and keep its columns."""
        view = self._project.view(node)
        if node.resource_type != "model":
            if not self._columns[view]:
                self._failed[view] = "its columns are not known: declare them with `data_type`"
                return
            self._spark.sql(values_sql([], self._columns[view])).createOrReplaceTempView(view)
            return
        if view in self._failed:
            return
        try:
            sql = self._queries[view].at(FIRST.isoformat(sep=" "))
            self._spark.sql(f"create or replace temporary view `{view}` as {sql}")
        except PySparkException as error:
            self._failed[view] = reason_of(error)
            return
        fields = self._spark.table(view).schema.fields
        self._columns[view] = {field.name.lower(): field.dataType.simpleString() for field in fields}
