"""Compare what a plan makes of a table with a rebuild, for many random histories at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark.engine.incremental.folding import DELETED
from tidemark.engine.incremental.measures import aggregate_of
from tidemark.engine.incremental.plan import VALUE, Plan, Request, choose_plan
from tidemark.engine.incremental.readings import filled, present, previous, quoted
from tidemark.engine.incremental.regions import Regions
from tidemark.engine.incremental.tree import Node, render
from tidemark.engine.prove.drawing import Drawn, Row, Table
from tidemark.engine.prove.lifting import HISTORY, lifted
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
    """

    name: str
    table: str
    tree: Node
    key: tuple[str, ...]
    types: Mapping[str, str]
    tables: Mapping[str, Table]
    partition: str = ""
    allows_ties: bool = False

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
        plan: the plan that was tried.
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

    @property
    def wrong(self) -> dict[int, list[Row]]:
        """The histories that speak against the model, with the rows that differ."""
        return self.differing or ({} if self.allows_ties else self.tied)


def try_histories(spark: SparkSession, model: Model, changed: Iterable[str], drawn: Drawn) -> Tried:
    """Apply a model's plan to each history, and compare with the rebuild.

    Args:
        spark: the session.
        model: the model.
        changed: the sources that changed.
        drawn: the histories of each source.

    Raises:
        Unsupported: if the query cannot be computed for many histories at once.
    """
    plan = choose_plan(model.tree, model.request(changed))
    if plan.way == "full":
        return Tried(plan)
    whole = _lifted(plan)
    assert whole.root is not None  # noqa: S101
    readings = register(spark, model.tables, drawn)
    spark.sql(filled(render(whole.root, previous), readings)).createOrReplaceTempView("prove_table")
    spark.sql(filled(render(whole.root, present), readings)).createOrReplaceTempView("prove_rebuild")
    new = {"regions": _by_regions, "rows": _by_rows, "folded": _by_folding}[plan.way](spark, whole, readings)
    tried = Tried(plan, len(next(iter(drawn.values()))), allows_ties=model.allows_ties)
    _compare(spark, tried, whole, new)
    if tried.differing or depends_on_order(model.tree):
        again = filled(render(whole.root, present), register(spark, model.tables, drawn, backwards=True))
        tried.tied = _differing(spark, whole, again, _repeated(whole))
        tried.differing = {one: rows for one, rows in tried.differing.items() if one not in tried.tied}
        tried.histories -= len(tried.tied)
    return tried


def _lifted(plan: Plan) -> Plan:
    assert plan.root is not None  # noqa: S101
    root = lifted(plan.root)
    request = replace(
        plan.request, key=(*plan.request.key, HISTORY), types={**plan.request.types, HISTORY: "int"}
    )
    regions = plan.regions and Regions(
        root, (*plan.columns, HISTORY), plan.regions.changed, plan.regions.joined
    )
    aggregate = plan.aggregate and aggregate_of(root, request.key, request.never_null)
    return replace(plan, root=root, request=request, regions=regions, aggregate=aggregate)


def _by_regions(spark: SparkSession, plan: Plan, readings: Mapping[str, Mapping[str, str]]) -> str:
    spark.sql(_named(plan.touched(readings), plan)).createOrReplaceTempView("prove_touched")
    rows = plan.recomputed(readings, _conditions(plan), _touched(plan))
    same = " and ".join(f"`__tidemark_region_{name}` <=> prove_table.`{name}`" for name in plan.columns)
    return f"{_untouched('prove_table', same)} union all {rows}"


def _by_rows(spark: SparkSession, plan: Plan, readings: Mapping[str, Mapping[str, str]]) -> str:
    spark.sql(plan.changed_rows(readings)).createOrReplaceTempView("prove_changed")
    return _merged(plan, "prove_changed")


def _by_folding(spark: SparkSession, plan: Plan, readings: Mapping[str, Mapping[str, str]]) -> str:
    spark.sql(plan.changed_groups(readings)).createOrReplaceTempView("prove_groups")
    spark.sql(plan.folded("prove_groups", "prove_table")).createOrReplaceTempView("prove_folded")
    # the run looks for lost groups among the suspects alone
    same = " and ".join(
        f"`__tidemark_key_{number}` <=> folded.`{name}`" for number, name in enumerate(_keys(plan))
    )
    suspects = f"select 1 from prove_groups where ({plan.suspects}) and {same}"
    lost = (
        f"select {quoted(plan.columns)} from prove_folded as folded "
        f"where __tidemark_is_lost and exists ({suspects})"
    )
    spark.sql(_named(lost, plan)).createOrReplaceTempView("prove_touched")
    rows = plan.recomputed(readings, _conditions(plan), _touched(plan))
    merged = f"({_merged(plan, 'prove_folded')}) as merged"
    same = " and ".join(f"`__tidemark_region_{name}` <=> merged.`{name}`" for name in plan.columns)
    return f"{_untouched(merged, same)} union all {rows}"


def _keys(plan: Plan) -> list[str]:
    assert plan.aggregate is not None  # noqa: S101
    return list(plan.aggregate.keys)


def _merged(plan: Plan, changed: str) -> str:
    """Return SQL for the table after a MERGE of changed rows."""
    same = " and ".join(f"changed.`{name}` <=> prove_table.`{name}`" for name in plan.request.key)
    columns = quoted(plan.request.types)
    return (
        f"select {columns} from prove_table "
        f"where not exists (select 1 from {changed} as changed where {same}) "
        f"union all select {columns} from {changed} where not {DELETED}"
    )


def _untouched(rows: str, same: str) -> str:
    """Return SQL for the rows outside the touched regions."""
    return f"select * from {rows} where not exists (select 1 from prove_touched where {same})"


def _named(touched: str, plan: Plan) -> str:
    names = ", ".join(f"`{name}` as `__tidemark_region_{name}`" for name in plan.columns)
    return f"select distinct {names} from ({touched}) as touched"


def _touched(plan: Plan) -> str:
    names = ", ".join(f"`__tidemark_region_{name}` as `{name}`" for name in plan.columns)
    return f"(select {names} from prove_touched)"


def _conditions(plan: Plan) -> dict[str, str]:
    """Return conditions that hold where a value is touched in the row's own history."""
    own = f"select 1 from prove_touched where `__tidemark_region_{HISTORY}` = `{HISTORY}`"
    return {name: f"exists ({own} and `__tidemark_region_{name}` <=> {VALUE})" for name in plan.columns}


def _compare(spark: SparkSession, tried: Tried, whole: Plan, new: str) -> None:
    """Compare the new table with the rebuild, in histories that have one row of each key."""
    repeated = _repeated(whole)
    tried.differing = _differing(spark, whole, new, repeated)
    tried.repeated = int(
        spark.sql(f"select count(*) as bad from ({repeated}) as repeated").collect()[0]["bad"]
    )
    tried.histories -= tried.repeated


def _repeated(whole: Plan) -> str:
    key = quoted(whole.request.key)
    return " union ".join(
        f"select `{HISTORY}` from {side} group by {key} having count(*) > 1"
        for side in ("prove_table", "prove_rebuild")
    )


def _differing(spark: SparkSession, whole: Plan, other: str, repeated: str) -> dict[int, list[Row]]:
    """Return the rows in which a query differs from the rebuild, by history."""
    columns = quoted(whole.request.types)
    sides = (
        f"select {columns}, 1 as side from prove_rebuild "
        f"union all select {columns}, -1 as side from ({other}) as other"
    )
    rows = spark.sql(
        f"select {columns}, sum(side) as side from ({sides}) as sides where `{HISTORY}` not in ({repeated}) "
        f"group by {columns} having sum(side) <> 0 order by `{HISTORY}` limit 200"
    ).collect()
    differing: dict[int, list[Row]] = {}
    for row in rows:
        values = row.asDict()
        differing.setdefault(values.pop(HISTORY), []).append(values)
    return differing
