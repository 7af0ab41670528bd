"""The relations of a project as views in a Spark session, as the project's SQL makes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from sqlglot import exp

from tidemark.engine.dbt_core.foreign_project import ForeignProject
from tidemark.engine.prove.given import given_as
from tidemark.engine.prove.stock.chains import Chain, Untried, reason_of
from tidemark.engine.prove.stock.dialect import NOW, Query, UntranslatedError, translated
from tidemark.engine.prove.stock.guessing import guessed_columns
from tidemark.engine.prove.stock.history import DAY, FIRST
from tidemark.engine.prove.stock.inputs import Declared, Input
from tidemark.engine.prove.stock.settings import MICROBATCH, columns_of, settings_of
from tidemark.engine.prove.stock.usage import filtered_tables
from tidemark.engine.prove.tables import values_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLOCK_IN_JINJA = re.compile(r"\b(run_started_at|modules\.datetime)\b")
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
        self._models = models
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
        if self._replaced is not None:
            self._show(self._replaced)
        self._replaced = node
        try:
            return self._chain(node)
        except Exception as error:  # the other models are tried all the same
            return Untried(node.name, reason_of(error))

    def _chain(self, node: Any) -> Chain | Untried:
        view = self._project.view(node)
        settings = settings_of(node, self._project.kind)
        needed = list(self._ancestors([node], computed=True))
        for one in needed:
            if why := self._failed.get(self._project.view(one)):
                own = one.unique_id == node.unique_id
                return Untried(node.name, why if own else f"it reads {one.name}: {why}")
        inputs = self._inputs(node, needed, settings.key)
        if not inputs:
            return Untried(node.name, "it reads no table")
        full, types = self._queries[view], self._columns[view]
        incremental = self._compiled(node, incremental=True)
        if missing := [name for name in columns_of(settings) if name not in types]:
            return Untried(node.name, f"its query has no column {missing[0]}, by which it is written")
        direct = {self._project.view(one) for one in self._parents(node)}
        if settings.strategy == MICROBATCH and not direct <= inputs.keys():
            return Untried(node.name, "it is a microbatch model over a model, whose batches are not computed")
        self._spark.sql(values_sql([], types)).createOrReplaceTempView(view)
        self._spark.sql(incremental.at(FIRST.isoformat(sep=" "))).schema  # noqa: B018  # it can be analysed
        below = tuple(
            (name, self._queries[name], self._columns[name])
            for one in needed
            if (name := self._project.view(one)) != view
            and getattr(one.config, "materialized", "") == "incremental"
        )
        clocked = tuple(
            (name, self._queries[name])
            for one in needed
            if (name := self._project.view(one)) != view
            and NOW in getattr(self._queries.get(name), "sql", "")
            and name not in {table for table, *_ in below}
        )
        return Chain(
            name=node.name,
            view=view,
            dialect=self._project.kind,
            full=full,
            incremental=incremental,
            types=types,
            settings=settings,
            inputs=inputs,
            given={self._project.view(one): given_as(one) for one in self._parents(node)},
            filtered=filtered_tables(full.tree, incremental.tree, self._trees(but=view)) & inputs.keys(),
            clocked_views=clocked,
            below=below,
        )

    def _parents(self, node: Any) -> list[Any]:
        """Return what a model reads directly."""
        found = (self._node(name) for name in getattr(node, "depends_on_nodes", ()))
        return [one for one in found if one is not None]

    def _node(self, name: str) -> Any:
        manifest = self._project.manifest
        return manifest.sources.get(name) or manifest.nodes.get(name)

    def _inputs(self, node: Any, needed: Sequence[Any], key: Sequence[str]) -> dict[str, Input]:
        """Return the tables whose rows are drawn for a model, by view."""
        groups = any(self._groups(one) for one in needed)
        found = {}
        for one in needed:
            view = self._project.view(one)
            if one.unique_id != node.unique_id and not self._is_computed(one):
                guessed = view in self._guessed
                found[view] = self._declared.input(
                    one, self._columns[view], key, groups=groups, guessed=guessed
                )
        return found

    def _ancestors(self, models: Sequence[Any], *, computed: bool = False) -> Iterator[Any]:
        """Yield models and what they read, each after what it reads itself."""
        seen: set[str] = set()

        def visit(node: Any) -> Iterator[Any]:
            if node.unique_id in seen:
                return
            seen.add(node.unique_id)
            if not computed or self._is_computed(node):
                for parent in self._parents(node):
                    yield from visit(parent)
            yield node

        for one in models:
            yield from visit(one)

    def _is_computed(self, node: Any) -> bool:
        return node.resource_type == "model" and node.config.materialized in COMPUTED

    def _compiled(self, node: Any, *, incremental: bool = False) -> Query:
        if str(getattr(node, "language", "sql")) not in ("sql", "ModelLanguage.sql"):
            raise UntranslatedError("it is a Python model")
        sql = self._project.compiled(node, self._columns, incremental=incremental)
        if CLOCK_IN_JINJA.search(node.raw_code) or datetime.now(tz=UTC).date().isoformat() in sql:
            raise UntranslatedError("it reads the clock in Jinja, so its runs cannot be put at a time")
        return translated(sql, self._project.kind)

    def _translate(self, node: Any) -> None:
        if node.resource_type != "model":
            return
        view = self._project.view(node)
        self._failed.pop(view, None)
        try:
            self._queries[view] = self._compiled(node)
        except Exception as error:  # one model that cannot be compiled stops no other
            self._failed[view] = reason_of(error)

    def _guess(self) -> None:
        """Guess the columns of tables that no one declared."""
        trees, written = self._trees(), []
        for node in self._models:
            view = self._project.view(node)
            with suppress(Exception):  # then it is not tried, and says why
                trees[f"{view} again"] = self._compiled(node, incremental=True).tree
                written.append((view, settings_of(node, self._project.kind)))
        described = {
            view: self._declared.names(node)
            for node in self._nodes
            if node.resource_type != "model" and not self._columns[view := self._project.view(node)]
        }
        known = {view: columns for view, columns in self._columns.items() if columns}
        guessed = guessed_columns(described, trees, known, written)
        self._columns |= guessed
        self._guessed |= guessed.keys()

    def _answer(self, sql: str) -> tuple[list[str], list[Any]] | None:
        """Run a query of a macro that reads no table, such as one for the length of a calendar."""
        try:
            query = translated(sql, self._project.kind)
            if query.tree is None or query.tree.find(exp.Table):
                return None
            found = self._spark.sql(query.at((FIRST + 3 * DAY).isoformat(sep=" ")))  # after the last run
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
            try:
                self._spark.sql(values_sql([], self._columns[view])).createOrReplaceTempView(view)
            except Exception as error:  # what reads it is not tried
                self._failed[view] = reason_of(error)
            return
        if view in self._failed:
            return
        try:
            sql = self._queries[view].at(FIRST.isoformat(sep=" "))
            self._spark.sql(f"create or replace temporary view `{view}` as {sql}")
        except Exception as error:  # as above
            self._failed[view] = reason_of(error)
            return
        fields = self._spark.table(view).schema.fields
        self._columns[view] = {field.name.lower(): field.dataType.simpleString() for field in fields}
