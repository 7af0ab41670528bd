"""What macros ask about writing a table: the statements of `engine/writing`, in dbt's connection."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt_common.exceptions import CompilationError

from tidemark.engine.adapter.following import FollowingAdapter
from tidemark.engine.adapter.model_settings import columns_named
from tidemark.engine.writing import columns, merging, partitions, plans, whole
from tidemark.engine.writing.sql_parts import typed_literal
from tidemark.engine.writing.target import Batch, Change, Refused, Target

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.engine.adapter.once import Once
    from tidemark.engine.incremental.plan import Plan, Readings


class WritingAdapter(FollowingAdapter):
    """The part of the adapter that prepares what is written."""

    @available
    def writer(self, relation: BaseRelation, query: Mapping[str, Any], settings: Mapping[str, Any]) -> Writer:
        """Return what prepares the changes of a model's table.

        Args:
            relation: the table.
            query: from `checked_query`.
            settings: the fields of `Target` that the query does not have, with `prune_by` and `partition_by`
                as the model has them; `insert_only`; `views`, the cached views of this command; `view_name`,
                the full name of the view `{}`.
        """
        named = settings["prune_by"] or {}
        pruned = {named: ""} if isinstance(named, str) else dict(named)
        column, expression = next(iter(pruned.items()), ("", ""))
        target = Target(
            settings["name"],
            relation.render(),
            query["types"],
            tuple(query["keys"]),
            settings["present"],
            settings["assertions"],
            tuple(columns_named(settings["partition_by"], query["types"])),
            next(iter(columns_named([column], query["types"])), "") if column else "",
            expression,
            settings["overwrites"],
            settings["keeps_rows"],
            settings["is_embedded"],
        )
        executor = DbtExecutor(self, relation, settings["views"], settings["view_name"])
        return Writer(executor, target, query, bool(settings["insert_only"]))

    @available
    def typed_literal(self, value: str, kind: str) -> str:
        """Return the literal of a value, given as text; bytes as hexadecimal digits."""
        return typed_literal(value, kind)


@dataclass(frozen=True)
class DbtExecutor:
    """Runs queries in dbt's connection.

    Attributes:
        adapter: the adapter.
        relation: the table to be written.
        views: the cached views of this command, by name.
        view_name: the full name of the view `{}`.
    """

    adapter: Any
    relation: BaseRelation
    views: dict[str, Once]
    view_name: str

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a query by column."""
        found: list[dict[str, Any]] = self.adapter._rows(sql)
        return found

    def cached_view(self, name: str, sql: str) -> str:
        """Create a view whose rows are computed once, and return its full name."""
        return str(self.adapter.cache_once(self.views, self.view_name.format(name), sql))

    def drop_view(self, name: str) -> None:
        """Drop a view of `cached_view`."""
        full = self.view_name.format(name)
        self.views.pop(full, None)
        self.adapter.drop_view(full)

    def columns(self) -> Sequence[str]:
        """Return the columns of the table to be written, in its order."""
        table = f"{self.relation.schema}.{self.relation.identifier}"
        log = self.adapter.delta_log(table) if self.adapter.table_format() == "delta" else None
        if log:
            return list(log.columns)
        return [one.name for one in self.adapter.get_columns_in_relation(self.relation)]


@dataclass(frozen=True)
class Writer:
    """Prepares the changes of one table; macros run the statements that it returns.

    Attributes:
        executor: runs the queries.
        target: the table.
        query: from `checked_query`.
        inserts_only: the setting `meta.insert_only`.
    """

    executor: DbtExecutor
    target: Target
    query: Mapping[str, Any]
    inserts_only: bool

    @property
    def batch(self) -> Batch:
        """The rows of the query, as a model that reads by macros merges them."""
        return Batch(
            self.query["sql"],
            self.query["flag"] or "",
            newest_by=tuple(self.query["newest_by"]),
            inserts_only=self.inserts_only,
            retracts=self.query["retracts"],
            counts_versions=self.query["counts_versions"],
        )

    def planned(self, plan: Plan, readings: Readings) -> Change:
        """Return the change that a plan computes."""
        with _refusals():
            return plans.prepare(self.executor, self.target, plan, readings)

    def merged(self) -> Change:
        """Return the change that merges the query's rows."""
        with _refusals():
            return merging.merge(self.executor, self.target, self.batch)

    def equal(self) -> Change:
        """Return the change that makes the table equal to the query."""
        with _refusals():
            return merging.make_equal(self.executor, self.target, self.batch)

    def replaced_partitions(self) -> Change:
        """Return the change that replaces the partitions of the query's rows."""
        with _refusals():
            return partitions.replace_partitions(self.executor, self.target, self.batch)

    def replaced_dates(self, first: str, last: str) -> Change:
        """Return the change that replaces the partitions of some dates, both included."""
        with _refusals():
            batch = partitions.of_dates(self.target, self.batch, first, last)
            return partitions.replace_partitions(self.executor, self.target, batch)

    def rebuilt_columns(self, named: Sequence[str], has: Collection[str], within: str | None) -> Change:
        """Return the change that gives columns of the present rows their values."""
        added = [name for name in named if name not in has]
        rebuilt = columns.Rebuilt(named, added, within or "")
        return columns.rebuild_columns(self.executor, self.target, self.batch, rebuilt)

    def new_rows(self) -> whole.NewRows:
        """Return the rows of a new table."""
        with _refusals():
            return whole.new_rows(self.target, self.batch, self.query["limited"])

    def differs(self) -> bool:
        """Return whether the table differs from the query."""
        return whole.differs(self.executor, self.target, self.batch)

    def lost_rows(self) -> whole.Lost:
        """Return the rows of the table that the query does not return."""
        return whole.lost_rows(self.executor, self.target, self.batch)


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise a refusal as dbt's own error, to which dbt adds the model."""
    try:
        yield
    except Refused as refused:
        raise CompilationError(str(refused)) from refused
