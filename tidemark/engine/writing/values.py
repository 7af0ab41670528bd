"""The values of a column that a statement names as literals, so that Spark skips files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.sql_parts import typed_literal

LISTED = 200  # a condition lists up to this many values; above, it has their bounds
LISTED_PARTITIONS = 100_000
PART = "__tidemark_part"


@dataclass(frozen=True)
class Found:
    """The distinct values of a column, as text.

    Attributes:
        number: how many there are, with NULL.
        has_null: whether NULL is one of them.
        kind: their type.
        lowest, highest: their bounds; None if all are NULL.
        each: all values but NULL; None if there are too many to list.
    """

    number: int
    has_null: bool
    kind: str
    lowest: str | None
    highest: str | None
    each: tuple[str, ...] | None

    def among(self, expression: str) -> str:
        """Return a condition that is true if an expression (SQL) has one of the values."""
        bounds = [f"{expression} is null"] if self.has_null else []
        if self.each:
            bounds.append(
                f"{expression} in ({', '.join(typed_literal(one, self.kind) for one in self.each)})"
            )
        elif self.lowest is not None and self.highest is not None:
            low, high = typed_literal(self.lowest, self.kind), typed_literal(self.highest, self.kind)
            bounds.append(f"{expression} between {low} and {high}")
        return f"({' or '.join(bounds)})" if bounds else "false"


@dataclass(frozen=True)
class Values:
    """The values of a column: in a run, one set; in a proof, one for each history.

    Attributes:
        column: the column.
        sets: by the value of `apart`, as text; a run has one set, of the empty text.
        apart: the column of that name of the target.
    """

    column: str
    sets: Mapping[str, Found]
    apart: str = ""

    @property
    def number(self) -> int:
        """How many values there are."""
        return sum(one.number for one in self.sets.values())

    @property
    def are_listed(self) -> bool:
        """Whether conditions list each value."""
        return all(one.each is not None for one in self.sets.values())

    def among(self, expression: str, alias: str = "") -> str:
        """Return a condition that is true if an expression has one of the values.

        In a proof, each history has the condition that its own run would have.

        Args:
            expression: SQL.
            alias: the alias of the rows and a dot, or nothing.
        """
        conditions: dict[str, list[str]] = {}
        for part, found in self.sets.items():
            conditions.setdefault(found.among(expression), []).append(part)
        if not self.apart:
            return next(iter(conditions))
        own = [
            f"({alias}{quoted(self.apart)} in ({', '.join(parts)}) and {condition})"
            for condition, parts in conditions.items()
        ]
        return f"({' or '.join(own)})" if own else "false"


def values_of(
    executor: Executor, column: str, rows: str, *, apart: str = "", limit: int | None = None
) -> Values:
    """Return the distinct values of a column.

    Args:
        executor: runs the query.
        column: the column.
        rows: the rows to read, as a table or a query in parentheses.
        apart: the column of that name of the target.
        limit: how many values to list at most; above, there are only their bounds.
    """
    own = f"{quoted(apart)} as {PART}, " if apart else ""
    part, by = (f"cast({PART} as string) as {PART}, ", f" group by {PART}") if apart else ("", "")
    answers: Sequence[Mapping[str, Any]] = ()
    for text in ("cast({} as string)", "hex({})"):
        found, lowest, highest = (text.format(one) for one in ("found", "min(found)", "max(found)"))
        answers = executor.rows(
            f"select {part}count(*) as number, count_if(found is null) as nulls, max(typeof(found)) as type, "
            f"{lowest} as lowest, {highest} as highest, if(count(*) <= {limit or LISTED}, "
            f"to_json(sort_array(collect_list({found}))), null) as each "
            f"from (select distinct {own}{quoted(column)} as found from {rows}){by}"
        )
        if all(one["type"] != "binary" for one in answers):
            break  # as text, bytes that are not UTF-8 are lost
    return Values(column, {one[PART] if apart else "": _found(one) for one in answers}, apart)


def _found(row: Mapping[str, Any]) -> Found:
    each = tuple(json.loads(row["each"])) if row["each"] else None
    return Found(int(row["number"]), bool(row["nulls"]), row["type"], row["lowest"], row["highest"], each)
