"""A first gold model for a proposed feed: rows per day, or per value of a column with few values."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.scaffold.column import Proposed
from tidemark.scaffold.feed import Proposal

MOST_VALUES = 50  # of a column whose values are categories
MOST_SUMS = 3


@dataclass(frozen=True)
class Gold:
    """A gold model.

    Attributes:
        name: the model's name.
        source: the silver model that it reads.
        by: the column that identifies a row.
        by_sql: its SQL.
        has_nulls: whether the column may be NULL; such rows are left out.
        description: what one row is.
        columns: name, type and description of each column.
        sums: the columns that are summed.
    """

    name: str
    source: str
    by: str
    by_sql: str
    has_nulls: bool
    description: str
    columns: tuple[tuple[str, str, str], ...]
    sums: tuple[str, ...]


def gold_of(feed: Proposal) -> Gold | None:
    """Return the gold model of a feed, or None if no column suits."""
    entity = feed.name.removesuffix("s")
    days = [column for column in feed.columns if column.type == "date"]
    times = [column for column in feed.columns if column.type == "timestamp" and column != feed.newest_by]
    found = sorted([*days, *times], key=lambda column: not column.is_required)
    groups = [column for column in feed.columns if _is_category(column, feed)]
    if not found and not groups:
        return None
    column = found[0] if found else groups[0]
    by, sql = column.name, column.name
    if column.type == "timestamp":
        by, sql = f"{column.name}_day", f"cast({column.name} as date)"
    name = f"{feed.name}_per_{'day' if found else column.name}"
    sums = [each for each in feed.columns if _is_measure(each, feed) and each != column][:MOST_SUMS]
    count = f"{entity}_count" if f"{entity}_count" not in (by, *(each.name for each in sums)) else "row_count"
    what = "day" if found else f"`{column.name}`"
    left_out = "" if column.is_required else f" Rows without `{column.name}` are left out."
    columns = (
        (by, "date" if found else column.type, f"Day of `{column.name}`." if found else f"`{column.name}`."),
        (count, "bigint", f"Number of rows of `{feed.name}`."),
        *((each.name, _type_of_sum(each.type), f"Sum of `{each.name}`.") for each in sums),
    )
    return Gold(
        name,
        feed.name,
        by,
        sql,
        not column.is_required,
        f"One row per {what} of `{feed.name}`.{left_out}",
        columns,
        tuple(each.name for each in sums),
    )


def _is_category(column: Proposed, feed: Proposal) -> bool:
    values = len(feed.counts.get(column.field, ()))
    few = 1 < values <= min(MOST_VALUES, feed.number // 2)
    return few and column.is_required and column.type in ("string", "boolean") and [column] != list(feed.key)


def _is_measure(column: Proposed, feed: Proposal) -> bool:
    is_percentage = ("strip", "%") in column.value.arguments
    return column.type.startswith("decimal") and column not in feed.key and not is_percentage


def _type_of_sum(of: str) -> str:
    precision, scale = (int(part) for part in of.removeprefix("decimal(").removesuffix(")").split(","))
    return f"decimal({min(precision + 10, 38)}, {scale})"
