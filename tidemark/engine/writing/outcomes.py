"""What each row of a batch does to the table: inserted, updated, deleted, unchanged or superseded."""

from __future__ import annotations

from tidemark.engine.incremental.canonical import same
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.regions import Region
from tidemark.engine.writing.sql_parts import null_safe_equal, shown_key
from tidemark.engine.writing.target import CHANGING, Audit, Batch, Target

IS_PRESENT, IS_INCOMING = "__tidemark_is_present", "__tidemark_is_incoming"


def once_a_key(target: Target, rows: str) -> str:
    """Return SQL for rows, which stops the statement at two rows of one key, because either could win.

    Args:
        target: the table.
        rows: the rows, as a table or a query in parentheses.
    """
    return f"""
    select * except (__tidemark_copies)
    from (
        select *, count(*) over (partition by {quoted(target.keys)}) as __tidemark_copies
        from {rows}
    )
    where assert_true(
        __tidemark_copies = 1,
        concat(
            '{target.name} has ', __tidemark_copies, ' rows of the key ',
            {shown_key(target.keys)},
            ' in one run. Keep one: row_number() … = 1. If rows may repeat, leave unique_key out.'
        )
    ) is null
    """


def outcomes_by_key(target: Target, batch: Batch, rows: str, predicate: str) -> str:
    """Return SQL for each row of the batch with its outcome.

    Args:
        target: the table.
        batch: the batch.
        rows: its rows, as a view or a query in parentheses.
        predicate: a condition on the table, `present`, that all keys of the batch meet; or nothing.
    """
    cases = [f"when present.{IS_PRESENT} is null then 'inserted'"]
    if batch.flags_new:
        repeated = f"concat('{target.name} has 2 rows of the key ', {shown_key(target.keys, 'incoming.')})"
        cases.insert(
            0, f"when incoming.__tidemark_is_new and present.{IS_PRESENT} then raise_error({repeated})"
        )
    if batch.flag:
        cases.insert(0, f"when incoming.{batch.flag} then if(present.{IS_PRESENT}, 'deleted', 'unchanged')")
    if target.values:
        cases.append(f"when {_same(target)} then 'unchanged'")
    lines = "\n            ".join([*cases, _otherwise(target, batch)])
    return f"""
    select
        incoming.*,
        case
            {lines}
        end as __tidemark_outcome
    from {rows} as incoming
    left join (
        select *, true as {IS_PRESENT} from {target.present} as present where {predicate or "true"}
    ) as present
        on {null_safe_equal("incoming", "present", target.keys)}
    """


def _otherwise(target: Target, batch: Batch) -> str:
    """Return the outcome of a row that differs from the present row of its key."""
    if batch.inserts_only:
        return "else 'superseded'"
    if not batch.newest_by:
        return f"else '{'updated' if target.values else 'unchanged'}'"
    older = f"struct({quoted(batch.newest_by, 'incoming.')}) < struct({quoted(batch.newest_by, 'present.')})"
    unless = " and not incoming._is_retracted" if batch.retracts else ""
    return f"when {older}{unless} then 'superseded' else 'updated'"


def outcomes_in_region(target: Target, rows: str, region: Region) -> str:
    """Return SQL for each row of the batch with its outcome, and for the rows to be deleted.

    These are the present rows of the region whose keys the batch does not have.

    Args:
        target: the table.
        rows: the batch, as a view or a query in parentheses.
        region: the part of the table that the batch replaces.
    """
    columns = ",\n        ".join(
        f"if(incoming.{IS_INCOMING}, incoming.{name}, present.{name}) as {name}"
        for name in map(quoted, ([one] for one in target.types))
    )
    updated = f"when not ({_same(target)}) then 'updated'" if target.values else ""
    return f"""
    select
        {columns},
        case
            when incoming.{IS_INCOMING} is null then 'deleted'
            when present.{IS_PRESENT} is null then 'inserted'
            {updated}
            else 'unchanged'
        end as __tidemark_outcome
    from (select *, true as {IS_INCOMING} from {rows}) as incoming
    full outer join (
        select present.*, true as {IS_PRESENT} from {target.present} {region.present}
    ) as present
        on {null_safe_equal("incoming", "present", target.keys)}
    """


def counted(executor: Executor, outcomes: str, *, counts_versions: bool) -> dict[str, int | None]:
    """Return the number of rows by outcome; versions of a key that lost within the batch are superseded.

    Args:
        executor: runs the query.
        outcomes: the view of the outcomes.
        counts_versions: as in `Batch`; `versions` is their number, else None.
    """
    versions = "sum(_versions)" if counts_versions else "count(*)"
    found = executor.rows(
        f"select __tidemark_outcome, count(*) as rows, {versions} as versions "
        f"from {outcomes} group by __tidemark_outcome"
    )
    counts = dict.fromkeys(("inserted", "updated", "deleted", "unchanged", "superseded"), 0)
    counts |= {row["__tidemark_outcome"]: int(row["rows"]) for row in found}
    read = sum(int(row["versions"]) for row in found)
    counts["superseded"] += read - sum(int(row["rows"]) for row in found)
    return {**counts, "versions": read if counts_versions else None}


def audit_of(target: Target, outcomes: str) -> Audit:
    """Return what an audit of a merge reads.

    Args:
        target: the table.
        outcomes: the view of the outcomes.
    """
    columns = quoted(target.types)
    gained = f"select {columns} from {outcomes} where __tidemark_outcome in ('inserted', 'updated')"
    lost = f"select {quoted(target.keys)} from {outcomes} where __tidemark_outcome in ('updated', 'deleted')"
    stays = (
        f"select {columns} from (select * from {target.present}) as present "
        f"left anti join ({lost}) as incoming on {null_safe_equal('incoming', 'present', target.keys)}"
    )
    batch = f"select {columns}, __tidemark_outcome from {outcomes} where {CHANGING}"
    return Audit(gained, f"{stays} union all {gained}", batch)


def _same(target: Target) -> str:
    return same("incoming", "present", target.values, zeros=True)
