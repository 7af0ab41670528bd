"""Give columns of the present rows new values; all other columns must be as the query computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.canonical import same
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.outcomes import IS_INCOMING, IS_PRESENT, once_a_key
from tidemark.engine.writing.sql_parts import condition_of, null_safe_equal
from tidemark.engine.writing.target import Batch, Change, Target


@dataclass(frozen=True)
class Rebuilt:
    """Which columns of which rows get new values.

    Attributes:
        columns: the columns.
        added: those of them that the table does not have yet.
        within: a condition on the rows, or nothing.
    """

    columns: Sequence[str]
    added: Sequence[str] = ()
    within: str = ""


def rebuild_columns(executor: Executor, target: Target, batch: Batch, rebuilt: Rebuilt) -> Change:
    """Return the statement that updates columns of the present rows by their keys.

    The counts have the rows that are `updated`, `unchanged`, and `other`: they differ in other columns, or
    only one side has them.

    Args:
        executor: runs the queries.
        target: the table.
        batch: all rows of the query.
        rebuilt: the columns and the rows.
    """
    outcomes = executor.cached_view("outcomes", _outcomes(target, batch, rebuilt))
    counts: dict[str, int | None] = dict.fromkeys(("updated", "unchanged", "other"), 0)
    counts |= {
        row["__tidemark_outcome"]: int(row["rows"])
        for row in executor.rows(
            f"select __tidemark_outcome, count(*) as rows from {outcomes} group by __tidemark_outcome"
        )
    }
    if not counts["updated"]:
        return Change(counts, views=("outcomes",))
    holds = target.rows_hold(unless="__tidemark_outcome != 'updated'")
    values = ", ".join(f"{one_quoted(name)} = incoming.{one_quoted(name)}" for name in rebuilt.columns)
    changing = condition_of("__tidemark_outcome = 'updated'", holds)
    statement = (
        f"merge into {target.relation} as present\nusing (select * from {outcomes} "
        f"where {changing}) as incoming\n"
        f"on {null_safe_equal('incoming', 'present', target.keys)}\nwhen matched then update set {values}"
    )
    return Change(counts, statement, views=("outcomes",))


def _outcomes(target: Target, batch: Batch, rebuilt: Rebuilt) -> str:
    """Return SQL for each row of the query and of the table by key, with its outcome."""
    others = {name: kind for name, kind in target.values.items() if name not in rebuilt.columns}
    equal = same("incoming", "present", {name: target.types[name] for name in rebuilt.columns}, zeros=True)
    is_other = [f"incoming.{IS_INCOMING} is null or present.{IS_PRESENT} is null"]
    is_other += [f"not ({same('incoming', 'present', others, zeros=True)})"] if others else []
    whens = " ".join(f"when {one} then 'other'" for one in is_other)
    missing = "".join(f", cast(null as {target.types[name]}) as {one_quoted(name)}" for name in rebuilt.added)
    within = f"({rebuilt.within})" if rebuilt.within else ""
    kept = condition_of(batch.stays, within)
    return (
        f"select {quoted(target.types, 'incoming.')}, "
        f"case {whens} when {equal} then 'unchanged' else 'updated' end as __tidemark_outcome "
        f"from (select *, true as {IS_INCOMING} from ({once_a_key(target, f'({batch.sql})')}) where {kept}) "
        f"as incoming full outer join (select *, true as {IS_PRESENT}{missing} from {target.present} "
        f"where {condition_of(within)}) as present "
        f"on {null_safe_equal('incoming', 'present', target.keys)}"
    )
