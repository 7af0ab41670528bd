"""What a run does if its query has other columns than its table: dbt's `on_schema_change`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.incremental.column_types import Narrowed, fits, narrowed, same, widens

IGNORE, APPEND, SYNC, FAIL = "ignore", "append_new_columns", "sync_all_columns", "fail"


@dataclass(frozen=True)
class Step:
    """What a run does about the columns.

    Attributes:
        action: `none`: the columns are the same; `ignore`: the query is read with the table's columns;
            `rebuild`: the table is written as a whole; `add`: the table gets the new columns; `stop`.
        message: what is ignored, or why it is rebuilt or stopped; for people.
        expressions: for `ignore` and `add`, SQL for each column of the table, by its name in the table.
        added: for `add`, the type of each new column.
    """

    action: str
    message: str = ""
    expressions: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """The columns of a table and of its query, matched without regard to letter case.

    Attributes:
        table: the types of the table's columns by name.
        query: the types of the query's columns by name.
    """

    table: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def added(self) -> dict[str, str]:
        """The columns that only the query has, with their types."""
        return {name: kind for name, kind in self.query.items() if name.lower() not in _lower(self.table)}

    @property
    def removed(self) -> list[str]:
        """The columns that only the table has."""
        return [name for name in self.table if name.lower() not in _lower(self.query)]

    @property
    def retyped(self) -> dict[str, tuple[str, str]]:
        """The types, of the table and of the query, of columns whose types differ."""
        query = {name.lower(): kind for name, kind in self.query.items()}
        both = {name: (kind, query.get(name.lower(), kind)) for name, kind in self.table.items()}
        return {name: pair for name, pair in both.items() if not same(*pair)}

    @property
    def in_words(self) -> str:
        """All differences, for people."""
        messages = [f"`{name}` is new" for name in self.added]
        messages += [f"`{name}` is gone" for name in self.removed]
        messages += [f"`{name}` is {now}, was {before}" for name, (before, now) in self.retyped.items()]
        return ", ".join(messages)


def step_of(columns: Columns, setting: str | None, rebuilds: bool) -> Step:
    """Return what a run does about its columns.

    Args:
        columns: those of the table and of the query.
        setting: `on_schema_change`.
        rebuilds: whether the run can compute all rows; not if the model's SQL calls `is_incremental()`.
    """
    chosen = setting or IGNORE
    unfit = [name for name, pair in columns.retyped.items() if not fits(*pair)]
    grows = not columns.removed and all(widens(*columns.retyped[name]) for name in unfit)
    if not columns.in_words:
        return Step("none")
    if rebuilds and (chosen == SYNC or (chosen == APPEND and grows and (columns.added or unfit))):
        return Step("rebuild", f"its columns have changed: {columns.in_words}")
    kept = {name: narrowed(quoted(name), *pair, name) for name, pair in columns.retyped.items()}
    if chosen == FAIL or columns.removed or (chosen == SYNC and unfit) or None in kept.values():
        return Step("stop", f"on_schema_change is {chosen}, and its columns have changed: {columns.in_words}")
    read = {name: each for name, each in kept.items() if each}
    expressions = {name: read[name].sql if name in read else quoted(name) for name in columns.table}
    if chosen == IGNORE:
        return Step("ignore", _left_out(chosen, [*columns.added], read, unfit), expressions)
    new = {name: quoted(name) for name in columns.added}
    message = [f"added {_names(new)}"] if new else []
    message += [left_out] if (left_out := _left_out(chosen, [], read, unfit)) else []
    return Step("add" if new else "ignore", "; ".join(message), expressions | new, columns.added)


def _left_out(setting: str, new: list[str], read: Mapping[str, Narrowed], unfit: Iterable[str]) -> str:
    new = [*new, *(path for each in read.values() for path in each.dropped)]
    wider = [name for name in unfit if not read[name].dropped]
    message = [f"ignored the new column{'s' if len(new) > 1 else ''} {_names(new)}"] if new else []
    message += [f"kept the type of {_names(wider)}"] if wider else []
    return f"{' and '.join(message)}: on_schema_change is {setting}" if message else ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _lower(names: Mapping[str, str]) -> set[str]:
    return {name.lower() for name in names}
