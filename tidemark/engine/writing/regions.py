"""The part of a table that a run recomputes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.engine.decision.costs import FEW
from tidemark.engine.incremental.plan import VALUE
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.sql_parts import condition_of, null_safe_equal
from tidemark.engine.writing.values import Values, values_of


@dataclass(frozen=True)
class Region:
    """The rows with touched values.

    Attributes:
        present: what follows the table in FROM, so that the rows of the region are read.
        predicate: a condition on the table, `present`, that the rows of the region meet; or nothing.
        conditions: by column, the condition that `__tidemark_value` is among its touched values.
        is_exact: whether the conditions let no other row pass.
        is_empty: whether no value is touched.
        values: the values of the first column; None for the whole table.
        sought: the columns of whose values the conditions have the bounds alone, and which are few enough to
            be sent to all tasks.
    """

    present: str = "as present"
    predicate: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    is_exact: bool = True
    is_empty: bool = False
    values: Values | None = None
    sought: frozenset[str] = frozenset()


WHOLE = Region()


def region_of(executor: Executor, columns: Sequence[str], touched: str, apart: str = "") -> Region:
    """Return the region of touched values.

    Args:
        executor: runs the queries.
        columns: the columns whose values are touched.
        touched: the touched values, as a view or a query in parentheses.
        apart: the column of that name of the target.
    """
    found = {name: values_of(executor, name, touched, apart=apart) for name in columns if name != apart}
    conditions = {name: values.among(VALUE) for name, values in found.items()}
    present = {name: values.among(f"present.{quoted([name])}", "present.") for name, values in found.items()}
    first = next(iter(found.values()), None)
    if apart and first is not None:
        conditions[apart] = f"{VALUE} in ({', '.join(first.sets) or 'null'})"
    is_exact = len(found) == 1 and all(values.are_listed for values in found.values())
    predicate = condition_of(*present.values())
    semi = (
        ""
        if is_exact
        else f"left semi join {touched} as touched on {null_safe_equal('present', 'touched', columns)} "
    )
    is_empty = any(not values.number for values in found.values())
    sought = frozenset(
        name for name, values in found.items() if not apart and not values.are_listed and values.number <= FEW
    )
    return Region(
        f"as present {semi}where {predicate}", predicate, conditions, is_exact, is_empty, first, sought
    )
