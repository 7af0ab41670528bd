"""What an incremental strategy of dbt makes of a table's rows.

The statements are those of the adapters' macros for these strategies (`get_merge_sql`,
`get_delete_insert_merge_sql`, `get_insert_overwrite_sql`); `tests/` compares with runs of dbt-spark.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tidemark.engine.prove.drawing import Row
from tidemark.engine.prove.stock.settings import APPEND, DELETE_INSERT, MERGE, OVERWRITE, Settings


class RunFailsError(Exception):
    """A run of dbt that ends with an error; the end of a sentence about it."""


def written(
    settings: Settings, table: Sequence[Row], new: Sequence[Row], replaced: Sequence[Any] = ()
) -> list[Row]:
    """Return a table's rows after a run.

    Args:
        settings: how the model is written.
        table: its rows before.
        new: the rows of the model's query.
        replaced: the partitions that are always replaced, if the model names them.

    Raises:
        RunFailsError: if two new rows match one row of the table.
    """
    if settings.strategy == APPEND or (not settings.key and settings.strategy in (MERGE, DELETE_INSERT)):
        return [*table, *new]
    if settings.strategy == MERGE:
        return _merged(settings, table, new)
    if settings.strategy == DELETE_INSERT:
        keys = {key for row in new if (key := _key(settings.key, row)) is not None}
        return [*(row for row in table if _key(settings.key, row) not in keys), *new]
    if settings.strategy == OVERWRITE and not settings.partitions:
        return list(new)
    if replaced:
        ((_, part),) = settings.partitions
        gone = {(_truncated(one, part),) for one in replaced}
    else:
        gone = {_partition(settings, row) for row in new}
    if settings.null_stays:
        gone = {one for one in gone if None not in one}
    return [*(row for row in table if _partition(settings, row) not in gone), *new]


def _merged(settings: Settings, table: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    present = {_key(settings.key, row) for row in table} - {None}
    number = Counter(_key(settings.key, row) for row in new)
    twice = next((key for key, many in number.items() if many > 1 and key in present), None)
    if twice is not None:
        words = ", ".join(f"{name} = {value}" for name, value in zip(settings.key, twice, strict=True))
        raise RunFailsError(f"two new rows have the key {words}, and a merge can take one")
    by_key = {_key(settings.key, row): row for row in new}
    rows = [
        _updated(settings, row, by_key[key]) if (key := _key(settings.key, row)) in by_key and key else row
        for row in table
    ]
    return [*rows, *(row for row in new if _key(settings.key, row) not in present)]


def _updated(settings: Settings, old: Row, new: Row) -> Row:
    if settings.updated is None:
        return new
    names = settings.updated
    changed = set(new) - set(names[1:]) if names[:1] == ("-",) else set(names)
    return {
        name: new[name] if name.lower() in changed or name in changed else value
        for name, value in old.items()
    }


def _key(names: Sequence[str], row: Row) -> tuple[Any, ...] | None:
    """Return the key of a row; None if a part is NULL, which equals nothing."""
    lower = {name.lower(): value for name, value in row.items()}
    key = tuple(lower[name] for name in names)
    return None if None in key else key


def _partition(settings: Settings, row: Row) -> tuple[Any, ...]:
    lower = {name.lower(): value for name, value in row.items()}
    return tuple(_truncated(lower[name], part) for name, part in settings.partitions)


def _truncated(value: Any, part: str) -> Any:
    """Return the start of the part of a time that has a value; a day as a date."""
    if not isinstance(value, datetime.date):
        return value
    if isinstance(value, datetime.datetime):
        if part == "hour":
            return value.replace(minute=0, second=0, microsecond=0)
        if not part and value.time() != datetime.time():
            return value
        value = value.date()
    return (
        value.replace(day=1, month=1)
        if part == "year"
        else value.replace(day=1)
        if part == "month"
        else value
    )
