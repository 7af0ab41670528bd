"""Merge a batch into a table by its key: newest-wins, or as the rows of a region."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.bags import make_equal_bag
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.outcomes import (
    audit_of,
    counted,
    once_a_key,
    outcomes_by_key,
    outcomes_in_region,
)
from tidemark.engine.writing.pruning import check_determined, declared_pruning
from tidemark.engine.writing.regions import WHOLE, Region
from tidemark.engine.writing.sql_parts import condition_of, null_safe_equal
from tidemark.engine.writing.target import CHANGING, Batch, Change, Target
from tidemark.engine.writing.values import values_of


def merge(
    executor: Executor,
    target: Target,
    batch: Batch,
    region: Region | None = None,
    views: tuple[str, ...] = (),
) -> Change:
    """Find the outcome of each row, and return the statement for those that change something.

    Rows that would change nothing are dropped first: a MERGE that matches them rewrites their files even if
    no clause applies.

    Args:
        executor: runs the queries.
        target: the table.
        batch: the rows.
        region: the part of the table that the batch replaces; None if rows that it does not have stay.
        views: other views to be dropped after the statement.
    """
    rows, predicate = f"({once_a_key(target, f'({batch.sql})')})", ""
    pruned = region.values if region else None
    if region:
        predicate = region.predicate
    elif target.prune_by:
        column, expression = declared_pruning(target)  # refused before anything is computed
        rows, views = executor.cached_view("batch", once_a_key(target, f"({batch.sql})")), (*views, "batch")
        check_determined(executor, target, rows, column, expression)
        pruned = values_of(executor, column, rows)
        predicate = pruned.among(f"present.{one_quoted(column)}")
    found = (
        outcomes_in_region(target, rows, region)
        if region
        else outcomes_by_key(target, batch, rows, predicate)
    )
    outcomes = executor.cached_view("outcomes", found)
    counts = counted(executor, outcomes, counts_versions=batch.counts_versions)
    views = ("outcomes", *views)
    if not counts["inserted"] and not counts["updated"] and not counts["deleted"]:
        return Change(counts, views=views, pruned=pruned)
    statement = merge_statement(target, outcomes, counts, predicate)
    return Change(counts, statement, audit_of(target, outcomes), views, pruned, once_a_key=True)


def make_equal(executor: Executor, target: Target, batch: Batch) -> Change:
    """Make a table equal to all rows of its query; rows of a model that accumulates stay.

    The settings newest_by, insert_only and prune_by do not apply here: they choose between versions of a key
    in an increment.

    Args:
        executor: runs the queries.
        target: the table.
        batch: all rows of the query.
    """
    if not target.keys:
        return make_equal_bag(executor, target, batch, WHOLE)
    rows = Batch(f"select {quoted(target.types)} from ({batch.sql}) where {batch.stays}")
    return merge(executor, target, rows, None if target.keeps_rows else WHOLE)


def merge_statement(target: Target, outcomes: str, counts: Mapping[str, int | None], predicate: str) -> str:
    """Return the statement that commits the outcomes: each row does what its outcome says.

    Args:
        target: the table.
        outcomes: the view of the outcomes.
        counts: the number of rows by outcome.
        predicate: a condition on the table, `present`, that all keys meet; or nothing.
    """
    holds = target.rows_hold(unless="__tidemark_outcome = 'deleted'")
    changing = f"select * from {outcomes} where {condition_of(CHANGING, holds)}"
    columns = quoted(target.types)
    if target.is_embedded and not counts["updated"] and not counts["deleted"]:
        # no other process writes here, so rows that are not in the table now cannot appear later
        return f"insert into {target.relation} ({columns})\nselect {columns} from ({changing})"
    clauses = []
    if counts["deleted"]:
        clauses.append("when matched and incoming.__tidemark_outcome = 'deleted' then delete")
    if counts["updated"]:
        values = ", ".join(f"{one_quoted(name)} = incoming.{one_quoted(name)}" for name in target.values)
        clauses.append(f"when matched and incoming.__tidemark_outcome = 'updated' then update set {values}")
    if counts["inserted"]:
        clauses.append(
            "when not matched and incoming.__tidemark_outcome = 'inserted' then insert "
            f"({columns}) values ({quoted(target.types, 'incoming.')})"
        )
    on = condition_of(null_safe_equal("incoming", "present", target.keys), predicate)
    lines = "\n".join(clauses)
    return f"merge into {target.relation} as present\nusing ({changing}) as incoming\non {on}\n{lines}"
