"""Compare what a plan makes of a table with a rebuild, for many random histories at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.plan import Plan, Readings
from tidemark.engine.incremental.readings import filled, present, quoted
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.stages import Staged
from tidemark.engine.incremental.tree import Leaf, Node, render
from tidemark.engine.prove.chains import lifted_plan, rows_after, run_stages, table_of
from tidemark.engine.prove.drawing import Drawn, Row, Table
from tidemark.engine.prove.lifting import HISTORY, of_no_rows
from tidemark.engine.prove.roles import depends_on_order
from tidemark.engine.prove.tables import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Model:
    """A model to prove.

    Attributes:
        name: its name in dbt.
        table: `schema.name` of its table.
        tree: its query.
        key: the columns of its key.
        types: the types of its columns.
        tables: its sources by `schema.table`.
        partition: the column whose partitions it replaces as a whole, or empty.
        allows_ties: whether its SQL allows the static check `tied_order`.
        staged: its query in stages; None if there are none.
        prefers_stages: whether the stages are tried also for changes that one step maintains.
    """

    name: str
    table: str
    tree: Node
    key: tuple[str, ...]
    types: Mapping[str, str]
    tables: Mapping[str, Table]
    partition: str = ""
    allows_ties: bool = False
    staged: Staged | None = None
    prefers_stages: bool = False

    def request(self, changed: Iterable[str]) -> Request:
        """Return what a plan is made from after changes of some sources."""
        never_null = frozenset(
            f"{one.name}.{name}" for one in self.tables.values() for name in one.never_null
        )
        return Request(self.key, self.types, frozenset(changed), never_null, partition=self.partition)


@dataclass
class Tried:
    """What some histories showed.

    Attributes:
        plan: the plan that was tried; with stages, that of the table over them.
        stages: how the stages were brought up to date, in words.
        staged: the query in stages, if these were tried.
        histories: how many were compared.
        repeated: how many were not, as the query gives two rows of one key.
        differing: the histories after which the table differs from its rebuild, with the rows that differ.
        tied: the histories whose rebuild depends on the order of the rows, with the rows that differ.
        allows_ties: whether the model's SQL says that ties do not matter.
    """

    plan: Plan
    histories: int = 0
    repeated: int = 0
    differing: dict[int, list[Row]] = field(default_factory=dict)
    tied: dict[int, list[Row]] = field(default_factory=dict)
    allows_ties: bool = False
    stages: tuple[str, ...] = ()
    staged: Staged | None = None

    @property
    def how(self) -> str:
        """How the table was brought up to date, in words."""
        return self.staged.in_words(self.stages, self.plan) if self.staged else self.plan.how

    @property
    def wrong(self) -> dict[int, list[Row]]:
        """The histories that speak against the model, with the rows that differ."""
        return self.differing or ({} if self.allows_ties else self.tied)


def try_histories(
    spark: SparkSession, model: Model, changed: Iterable[str], drawn: Drawn, *, commits: bool = True
) -> Tried:
    """Apply a model's plan to each history, and compare with the rebuild.

    Args:
        spark: the session.
        model: the model.
        changed: the sources that changed.
        drawn: the histories of each source.
        commits: whether the statement of the run is executed, or only what it is made from: see `written`.

    Raises:
        Unsupported: if the query cannot be computed for many histories at once.
    """
    plan = choose_plan(model.tree, model.request(changed))
    staged = model.staged if plan.way == "full" or model.prefers_stages else None
    if plan.way == "full" and staged is None:
        return Tried(plan)
    whole = lifted_plan(plan, model.tree)
    tried = Tried(plan, len(next(iter(drawn.values()))), allows_ties=model.allows_ties)
    readings: Readings = _read(spark, model, whole, drawn)
    repeated = _repeated(spark, whole)
    if repeated:  # a run would stop at these histories
        readings = _read(spark, model, whole, drawn, repeated)
    tried.repeated = len(repeated)
    tried.histories -= tried.repeated
    over = whole
    if staged is not None:
        chain = run_stages(spark, staged, plan.request, readings, commits=commits)
        tried.plan, tried.stages, readings = chain.rest, chain.stages, chain.readings
        tried.staged = staged
        over = lifted_plan(chain.rest, staged.rest)
        table_of(spark, over, readings)
        if added := of_no_rows(model.tree):  # a stage has this row
            rebuild = (
                f"{_query(whole, present, readings)} union all {filled(render(added, present), readings)}"
            )
            spark.sql(rebuild).createOrReplaceTempView("prove_rebuild")
    with rows_after(spark, over, readings, commits=commits, name=model.name) as new:
        tried.differing = _differing(spark, whole, new.query)
    if new.stopped is not None:
        tried.differing = {new.stopped: tried.differing.get(new.stopped, [])}
    if tried.differing or depends_on_order(model.tree):
        backwards = register(spark, model.tables, drawn, without=repeated, backwards=True)
        tried.tied = _differing(spark, whole, _query(whole, present, backwards))
        tried.differing = {one: rows for one, rows in tried.differing.items() if one not in tried.tied}
        tried.histories -= len(tried.tied)
    return tried


def _read(
    spark: SparkSession, model: Model, whole: Plan, drawn: Drawn, without: Collection[int] = ()
) -> dict[str, dict[str, str]]:
    """Make views of the sources, of the table before and of its rebuild; return what reads each source."""
    readings = register(spark, model.tables, drawn, without=without)
    table_of(spark, whole, readings)
    spark.sql(_query(whole, present, readings)).createOrReplaceTempView("prove_rebuild")
    return readings


def _query(whole: Plan, read: Callable[[Leaf], exp.Query], readings: Readings) -> str:
    assert whole.root is not None  # noqa: S101
    return filled(render(whole.root, read), readings)


def _repeated(spark: SparkSession, whole: Plan) -> frozenset[int]:
    """Return the histories in which the query gives two rows of one key."""
    if whole.request.key == (HISTORY,):  # a model without a key
        return frozenset()
    key = quoted(whole.request.key)
    query = " union ".join(
        f"select `{HISTORY}` from {side} group by {key} having count(*) > 1"
        for side in ("prove_table", "prove_rebuild")
    )
    return frozenset(row[HISTORY] for row in spark.sql(query).collect())


def _differing(spark: SparkSession, whole: Plan, other: str) -> dict[int, list[Row]]:
    """Return the rows in which a query differs from the rebuild, by history."""
    columns = quoted(whole.request.types)
    sides = (
        f"select {columns}, 1 as side from prove_rebuild "
        f"union all select {columns}, -1 as side from ({other}) as other"
    )
    rows = spark.sql(
        f"select {columns}, sum(side) as side from ({sides}) as sides "
        f"group by {columns} having sum(side) <> 0 order by `{HISTORY}` limit 200"
    ).collect()
    differing: dict[int, list[Row]] = {}
    for row in rows:
        values = row.asDict()
        differing.setdefault(values.pop(HISTORY), []).append(values)
    return differing
