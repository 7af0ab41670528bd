"""Replace whole partitions that differ from the present ones: `incremental_strategy: insert_overwrite`."""

from __future__ import annotations

from tidemark.engine.incremental.canonical import grouped_values
from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.outcomes import once_a_key
from tidemark.engine.writing.sql_parts import condition_of
from tidemark.engine.writing.target import Audit, Batch, Change, Refused, Target
from tidemark.engine.writing.values import LISTED_PARTITIONS, values_of

IS_GONE = "__tidemark_is_gone"


def replace_partitions(
    executor: Executor, target: Target, batch: Batch, views: tuple[str, ...] = ()
) -> Change:
    """Return the statement that replaces the partitions of the batch that differ.

    The statement carries the predicate, so no session setting is changed.

    Args:
        executor: runs the queries.
        target: the table.
        batch: the rows; a flagged row names a partition that has no rows left.
        views: other views to be dropped after the statement.

    Raises:
        Refused: if the table has not one column of partitions.
    """
    if len(target.partitions) != 1:
        raise Refused(
            f"{target.name}: insert_overwrite needs one partition_by column, not {len(target.partitions)}."
        )
    (name,) = target.partitions
    view, partition, views = executor.cached_view("batch", batch.sql), one_quoted(name), (*views, "batch")
    rows = f"(select {quoted(target.types)} from {view} where {batch.stays})"
    named = values_of(executor, name, view, apart=target.apart, limit=LISTED_PARTITIONS).among(partition)
    differing = values_of(
        executor, name, f"({_differing(target, rows, named)})", apart=target.apart, limit=LISTED_PARTITIONS
    )
    if not differing.number:
        return Change(views=views)
    these = differing.among(partition)
    gained = f"select {quoted(target.types)} from {rows} where {these}"
    others = f"select {quoted(target.types)} from {target.present} where not coalesce({these}, false)"
    statement = (
        f"insert into {target.relation} replace where {these}\n"
        f"select {quoted(executor.columns())} from {view} "  # it goes by position
        f"where {condition_of(batch.stays, these, target.rows_hold(unless=batch.flag))}"
    )
    return Change({}, statement, Audit(gained, f"{others} union all {gained}", gained), views)


def with_touched(target: Target, rows: str, touched: str) -> Batch:
    """Return recomputed rows, and for each touched partition a row that says that it may have none left.

    Args:
        target: the table.
        rows: the query of the rows.
        touched: the view of the touched partitions.
    """
    return _with_partitions(target, f"select {quoted(target.types)} from ({rows})", touched)


def of_dates(target: Target, batch: Batch, first: str, last: str) -> Batch:
    """Return the rows of some dates, and a row for each present partition of them.

    Args:
        target: the table, which is partitioned by date.
        batch: all rows of the query.
        first, last: the dates, both included.
    """
    partition = quoted(target.partitions[:1])
    within = f"{partition} between date '{first}' and date '{last}'"
    present = f"(select distinct {partition} from {target.relation} where {within})"
    rows = f"select {quoted(target.types)} from ({batch.sql}) where {within} and {batch.stays}"
    return _with_partitions(target, rows, present)


def _with_partitions(target: Target, rows: str, partitions: str) -> Batch:
    kept = {one.lower() for one in (target.partitions[0], target.apart)}
    empty = ", ".join(
        one_quoted(name) if name.lower() in kept else f"cast(null as {kind}) as {one_quoted(name)}"
        for name, kind in target.types.items()
    )
    return Batch(
        f"select *, false as {IS_GONE} from ({rows}) union all select {empty}, true as {IS_GONE} "
        f"from {partitions}",
        flag=IS_GONE,
    )


def _differing(target: Target, rows: str, named: str) -> str:
    """Return SQL for the partitions whose rows differ from the present ones."""
    checked = f"({once_a_key(target, rows)})" if target.keys else rows
    columns = quoted(target.types)
    own = quoted([target.partitions[0], *([target.apart] if target.apart else [])])
    return (
        f"select {own} from (select {columns}, 1 as __tidemark_side from {checked} union all "
        f"select {columns}, -1 as __tidemark_side from {target.relation} where {named}) "
        f"group by {own}, {grouped_values(target.types)} having sum(__tidemark_side) != 0"
    )
