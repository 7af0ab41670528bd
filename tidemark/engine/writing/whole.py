"""The table as a whole: the rows of a new one, and how it differs from its query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.engine.incremental.canonical import grouped_values
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.outcomes import once_a_key
from tidemark.engine.writing.pruning import determined
from tidemark.engine.writing.sql_parts import null_safe_equal, shown_key
from tidemark.engine.writing.target import Batch, Target


@dataclass(frozen=True)
class NewRows:
    """The rows of a new table.

    Attributes:
        rows: their query, as an audit reads it.
        checked: the same, stopping at rows that the table must not hold.
    """

    rows: str
    checked: str


def new_rows(target: Target, batch: Batch, limited: Sequence[str]) -> NewRows:
    """Return the rows of a new table.

    Args:
        target: the table.
        batch: all rows of the query.
        limited: the columns of type char(n) or varchar(n). The table would keep their limits, at which a
            later run would stop.

    Raises:
        Refused: if `meta.prune_by` is not safe.
    """
    columns = ", ".join(
        f"concat({quoted([name])}, '') as {quoted([name])}" if name in limited else quoted([name])
        for name in target.types
    )
    source = once_a_key(target, f"({batch.sql})") if target.keys else batch.sql
    rows = f"select {columns} from ({source}) as incoming where {batch.stays}"
    by_key = determined(target)
    return NewRows(rows, _checked(target, f"{rows} and {by_key}" if by_key else rows))


def _checked(target: Target, rows: str) -> str:
    """Return rows with the check computed in a column, and not in `where`.

    After a condition of the model that is NULL, Spark computes the next condition, too, for a row that the
    model leaves out.
    """
    holds = target.rows_hold()
    if not holds:
        return rows
    first, *others = (quoted([name]) for name in target.types)
    columns = ", ".join([f"case when {holds} then {first} end as {first}", *others])
    return f"select {columns} from ({rows}) as checked"


def differs(executor: Executor, target: Target, batch: Batch) -> bool:
    """Return whether the table differs from the query; equal rows count as often as they occur.

    Args:
        executor: runs the query.
        target: the table.
        batch: all rows of the query.
    """
    return bool(executor.rows(f"select 1 as one {_copies(target, batch)} != 0 limit 1"))


@dataclass(frozen=True)
class Lost:
    """The rows that only the table has.

    Attributes:
        number: how many.
        example: one of their keys as text, or one of the rows if there is no key; None if it is not known.
    """

    number: int
    example: str | None


def lost_rows(executor: Executor, target: Target, batch: Batch) -> Lost:
    """Return the rows of the table that the query does not return.

    Args:
        executor: runs the query.
        target: the table.
        batch: all rows of the query.
    """
    keys = target.keys or tuple(target.types)
    if not set(keys) <= set(executor.columns()):
        query = f"select count(*) as number, cast(null as string) as example from {target.relation}"
    elif target.keys:
        query = (
            f"select count(*) as number, min({shown_key(keys, 'present.')}) as example "
            f"from {target.relation} as present "
            f"left anti join (select * from ({batch.sql}) where {batch.stays}) as incoming "
            f"on {null_safe_equal('incoming', 'present', keys)}"
        )
    else:
        query = (
            "select coalesce(sum(copies), 0) as number, min(example) as example from ("
            f"select sum(__tidemark_side) as copies, first({shown_key(keys)}) as example "
            f"{_copies(target, batch)} > 0)"
        )
    (row,) = executor.rows(query)
    return Lost(int(row["number"]), row["example"])


def _copies(target: Target, batch: Batch) -> str:
    """Return FROM to HAVING of a query of equal rows, up to what the difference of their copies is."""
    columns = quoted(target.types)
    return (
        f"from (select {columns}, 1 as __tidemark_side from {target.relation} union all "
        f"select {columns}, -1 as __tidemark_side from ({batch.sql}) where {batch.stays}) "
        f"group by {grouped_values(target.types)} having sum(__tidemark_side)"
    )
