"""Random histories of a model's inputs: what is there at each run, after changes of one kind."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tidemark.engine.prove.drawing import INTEGERS, Chance, Row, Table
from tidemark.engine.prove.stock.history import DAY, FIRST, NEW, Change, History

EMPTY, TIED, LATE, REPEATED = "empty", "tied", "late", "repeated"
UPDATED, MOVED, EDITED, DELETED = "updated", "moved", "edited", "deleted"
KINDS = {
    NEW: "new rows",
    EMPTY: "the first rows, after a run without rows",
    TIED: "new rows with the time of the last",
    LATE: "rows that come late",
    REPEATED: "rows that come twice",
    UPDATED: "updated rows, with a new time",
    MOVED: "rows moved to other groups, with a new time",
    EDITED: "updated rows, without a new time",
    DELETED: "deleted rows",
}
NEED_TIME = (TIED, LATE, EDITED)
LATENESS = (datetime.timedelta(hours=2), DAY, 3 * DAY, 10 * DAY, 40 * DAY)
TIMES = ("timestamp", "date")
JOINED = 0.9  # how often a column that is compared with another has the value of a key
# in names of columns: times that an update sets, and times that most rows do not have
OF_UPDATES = ("updat", "modif", "chang", "load", "sync", "ingest", "extract", "process", "received")
OFTEN_NULL = ("delet", "cancel", "closed", "expire", "valid_to", "ended")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass
class Drawer:
    """Draws one history.

    Attributes:
        tables: the inputs by view.
        chance: what decides the values.
        joined: columns that are compared with other columns: they have the values of keys.
    """

    tables: Mapping[str, Table]
    chance: Chance
    joined: frozenset[str] = frozenset()
    _taken: dict[str, int] = field(default_factory=dict)  # the last number of a key's value, by table
    _keys: set[tuple[Any, ...]] = field(default_factory=set)  # keys that consist of times
    _place: int = 0

    @property
    def rng(self) -> Random:
        """The source of chance."""
        return self.chance.rng

    def history(self, view: str, kind: str, *, mixed: bool = True) -> History:
        """Draw a history in which one input has changes of one kind.

        Args:
            view: the input that changes.
            kind: a key of `KINDS`.
            mixed: whether there may be new rows besides.
        """
        before = {name: self._before(table) for name, table in self.tables.items()}
        if kind == EMPTY:
            before[view] = {}
        rows = dict(before[view])
        steps = []
        for number in range(1, self.rng.choice((2, 2, 3))):
            now = FIRST + number * DAY
            kinds = [kind] * self.rng.randint(1, 2)
            if mixed and kind not in (NEW, EMPTY) and self.rng.random() < 0.4:
                kinds.append(NEW)
            changes = []
            for one in kinds:
                change = self._change(view, one, rows, now)
                if change is not None:
                    changes.append(replace(change, kind=one))
                    if change.row is None:
                        rows.pop(change.place)
                    else:
                        rows[change.place] = change.row
            steps.append(tuple(changes))
        return History(before, tuple(steps))

    def _before(self, table: Table) -> dict[int, Row]:
        ages = sorted(self.rng.sample(range(1, 72 * 60), self.rng.randrange(1, 9)), reverse=True)
        drawn = (self._row(table, FIRST - datetime.timedelta(minutes=age)) for age in ages)
        rows = dict(enumerate(row for row in drawn if row is not None))
        self._place = max(self._place, len(rows))
        return rows

    def _change(self, view: str, kind: str, rows: Mapping[int, Row], now: datetime.datetime) -> Change | None:
        table = self.tables[view]
        recent = now - datetime.timedelta(minutes=self.rng.randrange(1, 24 * 60 - 1))
        fresh = self._place = self._place + 1  # a place is never used again
        if kind in (NEW, EMPTY, LATE):
            late = self.rng.choice(LATENESS)
            row = self._row(table, now - DAY - late if kind == LATE else recent)
            words = f"a row that is {_words(late)} older than the last run" if kind == LATE else "a new row"
            return Change(view, words, fresh, row) if row is not None else None
        return self._of_row(view, kind, rows, recent) if rows else None

    def _of_row(
        self, view: str, kind: str, rows: Mapping[int, Row], recent: datetime.datetime
    ) -> Change | None:
        """Make a change that goes by a row that is there."""
        table, fresh = self.tables[view], self._place
        place = self.rng.choice(list(rows))
        if kind == TIED:
            last = max(rows, key=lambda one: [str(rows[one][name]) for name in times_of(table)])
            row = self._row(table, recent)
            if row is None or set(times_of(table)) >= set(table.key) != set():
                return None
            row |= {name: rows[last][name] for name in times_of(table)}
            return Change(view, "a new row with the time of the last", fresh, row, last)
        if kind == REPEATED:
            return Change(view, "the same row once more", fresh, dict(rows[place]), place)
        if kind == DELETED:
            return Change(view, "deleted", place, None, place)
        after = self._updated(table, rows[place], kind, recent)
        words = "updated, with the time that it had" if kind == EDITED else "updated"
        return Change(view, words, place, after, place) if after is not None else None

    def _updated(self, table: Table, row: Row, kind: str, now: datetime.datetime) -> Row | None:
        times = times_of(table)
        free = [name for name in table.columns if name not in table.key and name not in times]
        names = [name for name in free if (name in table.meets) == (kind == MOVED)] or free
        if not names:
            return None
        after = dict(row)
        for name in self.rng.sample(names, min(len(names), self.rng.randint(1, 3))):
            after[name] = self._other(table, name, row[name])
        return after if kind == EDITED else {**after, **_at(table, now, update=True)}

    def _other(self, table: Table, name: str, value: Any) -> Any:
        drawn = value
        for _ in range(8):
            drawn = self._value(table, name)
            if drawn != value:
                break
        return drawn

    def _value(self, table: Table, name: str) -> Any:
        kind = table.columns[name]
        if name in self.joined and (kind == "string" or kind in INTEGERS) and self.rng.random() < JOINED:
            return _numbered(kind, self.rng.randrange(4))
        return self.chance.value(table, name)

    def _row(self, table: Table, time: datetime.datetime) -> Row | None:
        """Draw a row with keys of its own; None if its time is the key, and is taken."""
        times = _at(table, time)
        row = {name: self._value(table, name) for name in table.columns if name not in times} | times
        number = self._taken[table.name] = self._taken.get(table.name, -1) + 1
        for key in (table.key, *table.keys):
            names = [name for name in key if name not in times]
            if names:
                row[names[-1]] = _numbered(table.columns[names[-1]], number)
            elif key:
                values = (table.name, *key, *(row[name] for name in key))
                if values in self._keys:
                    return None
                self._keys.add(values)
        for name in times:
            if any(word in name for word in OFTEN_NULL) and name not in table.never_null:
                row[name] = row[name] if self.rng.random() < 0.4 else None
        return {name: row[name] for name in table.columns}


def times_of(table: Table) -> list[str]:
    """Return the columns of a table that hold a time."""
    return [name for name, kind in table.columns.items() if kind in TIMES]


def kinds_for(table: Table) -> list[str]:
    """Return the kinds of changes that a table can have."""
    timed = bool(times_of(table))
    moves = bool(table.meets - {*table.key, *times_of(table)})
    return [kind for kind in KINDS if (timed or kind not in NEED_TIME) and (moves or kind != MOVED)]


def words_of(kind: str, table: Table) -> str:
    """Return a kind of changes in words; a table may have no time."""
    return KINDS[kind] if times_of(table) else KINDS[kind].replace(", with a new time", "")


def _at(table: Table, time: datetime.datetime, *, update: bool = False) -> dict[str, Any]:
    """Return the columns of time at a time; an update leaves those of the creation."""
    names = times_of(table)
    if update:
        free = [name for name in names if name not in table.key]
        names = [name for name in free if any(word in name for word in OF_UPDATES)] or [
            name for name in free if not name.startswith("created")
        ]
    return {name: time.date() if table.columns[name] == "date" else time for name in names}


def _numbered(kind: str, number: int) -> Any:
    if kind == "string":
        return LETTERS[number % len(LETTERS)] * (number // len(LETTERS) + 1)
    return number if kind in INTEGERS else float(number)


def _words(late: datetime.timedelta) -> str:
    days = late.days
    return f"{days} day{'s' * (days > 1)}" if days else f"{late.seconds // 3600} hours"
