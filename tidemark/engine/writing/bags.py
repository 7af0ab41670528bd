"""Write rows that have no key: equal rows count as often as they occur."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.engine.incremental.canonical import any_of_equal, grouped_values, same
from tidemark.engine.incremental.plan import NET
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.regions import Region
from tidemark.engine.writing.sql_parts import condition_of
from tidemark.engine.writing.target import Audit, Batch, Change, Target

COPIES = "__tidemark_copies"
IS_REMOVED = "incoming.__tidemark_outcome = 'deleted'"


def make_equal_bag(
    executor: Executor, target: Target, batch: Batch, region: Region, views: tuple[str, ...] = ()
) -> Change:
    """Make a region of a table equal to the rows of a batch.

    Args:
        executor: runs the queries.
        target: the table; it has no key.
        batch: the rows.
        region: the part of the table that the batch replaces.
        views: other views to be dropped after the statement.
    """
    columns = quoted(target.types)
    sides = (
        f"select {columns}, 1 as __tidemark_side from ({batch.sql}) where {batch.stays} union all "
        f"select {quoted(target.types, 'present.')}, -1 as __tidemark_side from {target.present} "
        f"{region.present}"
    )
    net = (
        f"select {any_of_equal(target.types)}, sum(__tidemark_side) as {NET} from ({sides}) "
        f"group by {grouped_values(target.types)} having sum(__tidemark_side) != 0"
    )
    return write_bag(executor, target, net, region.predicate, views)


def write_bag(
    executor: Executor, target: Target, net: str, predicate: str = "", views: tuple[str, ...] = ()
) -> Change:
    """Return the statement that gives rows their new number of copies.

    If rows only come, they are inserted. Else all copies of the rows of which some go are deleted, and those
    that stay are inserted again: a MERGE cannot delete one of two equal rows.

    Args:
        executor: runs the queries.
        target: the table; it has no key.
        net: a query of the table's columns and `__tidemark_net`: how many copies of a row come, or go if it
            is negative. It gives a row for each distinct row that differs.
        predicate: a condition on the table, `present`, that all these rows meet; or nothing.
        views: other views to be dropped after the statement.
    """
    rows = executor.cached_view("outcomes", net)
    views = ("outcomes", *views)
    (found,) = executor.rows(
        f"select coalesce(sum(greatest({NET}, 0)), 0) as inserted, "
        f"coalesce(sum(greatest(-{NET}, 0)), 0) as deleted from {rows}"
    )
    counts = {outcome: int(found[outcome]) for outcome in ("inserted", "deleted")}
    if not any(counts.values()):
        return Change(counts, views=views)
    columns = quoted(target.types)
    gained = _copied(columns, f"select {columns}, {NET} as {COPIES} from {rows} where {NET} > 0")
    removed = f"(select * from {rows} where {NET} < 0)"
    stays = _copied(columns, _left(target, removed, predicate))
    kept = (
        f"select {quoted(target.types, 'present.')} from {target.present} as present "
        f"left anti join {removed} as incoming on {_equal(target)}"
    )
    audit = Audit(gained, f"{kept} union all {stays} union all {gained}", f"select * from {rows}")
    return Change(counts, _statement(target, counts, removed, (gained, stays), predicate), audit, views)


def _statement(
    target: Target,
    counts: Mapping[str, int],
    removed: str,
    inserted: tuple[str, str],
    predicate: str,
) -> str:
    gained, stays = inserted
    columns = quoted(target.types)
    if not counts["deleted"]:
        return (
            f"insert into {target.relation} ({columns})\n"
            f"select {columns} from ({gained}) where {target.rows_hold() or 'true'}"
        )
    holds = target.rows_hold(unless="__tidemark_outcome = 'deleted'")
    incoming = (
        f"select {columns}, 'deleted' as __tidemark_outcome from {removed} union all "
        f"select {columns}, 'inserted' as __tidemark_outcome from ({stays} union all {gained})"
    )
    on = condition_of(IS_REMOVED, _equal(target), predicate)
    return (
        f"merge into {target.relation} as present\n"
        f"using (select * from ({incoming}) where {holds or 'true'}) as incoming\non {on}\n"
        "when matched then delete\n"
        "when not matched and incoming.__tidemark_outcome = 'inserted' then insert "
        f"({columns}) values ({quoted(target.types, 'incoming.')})"
    )


def _left(target: Target, removed: str, predicate: str) -> str:
    """Return SQL for the rows of which some copies go, with the number of those that stay."""
    columns = quoted(target.types)
    copies = (
        f"select {quoted(target.types, 'present.')}, 1 as {COPIES} from {target.present} as present "
        f"left semi join {removed} as incoming on {condition_of(_equal(target), predicate)} "
        f"union all select {columns}, {NET} as {COPIES} from {removed}"
    )
    return (
        f"select {any_of_equal(target.types)}, sum({COPIES}) as {COPIES} from ({copies}) "
        f"group by {grouped_values(target.types)} having sum({COPIES}) > 0"
    )


def _copied(columns: str, rows: str) -> str:
    """Return SQL for each row as often as its `__tidemark_copies` says."""
    return (
        f"select {columns} from (select {columns}, explode(sequence(1, greatest({COPIES}, 1))) from ({rows}))"
    )


def _equal(target: Target) -> str:
    return same("incoming", "present", target.types, zeros=True)
