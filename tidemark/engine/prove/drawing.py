"""Draw random histories of a table: its rows before, and commits that insert, update and delete rows."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

Row = dict[str, Any]
TIES = 0.7  # how often a column that orders rows takes a common value
INTEGERS = ("tinyint", "smallint", "int", "bigint")
VALUES_PER_COLUMN = 4  # values of a column: few, so that rows meet in joins and groups


@dataclass(frozen=True)
class Table:
    """What is known of a source.

    Attributes:
        name: `schema.table`.
        columns: Spark types by column.
        key: the columns that tell its rows apart; empty if rows may repeat.
        never_null: columns without NULL.
        checks: conditions (SQL) that each row meets.
        values: values of a column that unit tests and `accepted_values` tests name.
        given: how a unit test names it, such as `ref('orders')`.
        keys: other sets of columns that tell its rows apart, as far as they have values.
        meets: columns that the query compares, groups or partitions by.
        tied: columns that the query orders by.
    """

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()
    never_null: frozenset[str] = frozenset()
    checks: tuple[str, ...] = ()
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    given: str = ""
    keys: tuple[tuple[str, ...], ...] = ()
    meets: frozenset[str] = frozenset()
    tied: frozenset[str] = frozenset()


@dataclass
class History:
    """One table's rows over some commits. A row keeps its place when it is updated.

    Attributes:
        before: by place, the rows that the last run has read.
        after: by place, the rows now.
        changes: rows before and after each change since, each with `_change_type`.
    """

    before: dict[Any, Row] = field(default_factory=dict)
    after: dict[Any, Row] = field(default_factory=dict)
    changes: list[Row] = field(default_factory=list)

    @property
    def previous(self) -> list[Row]:
        """The rows that the last run has read."""
        return list(self.before.values())

    @property
    def present(self) -> list[Row]:
        """The rows now."""
        return list(self.after.values())


Drawn = dict[str, list[History]]  # by table


def in_one_commit(before: dict[Any, Row], after: dict[Any, Row]) -> History:
    """Return the history that goes from some rows to others in one commit."""
    changes: list[Row] = []
    for place in {**before, **after}:
        old, new = before.get(place), after.get(place)
        if old == new:
            continue
        if old is None or new is None:
            changes.append({**(old or new or {}), "_change_type": "insert" if old is None else "delete"})
        else:
            changes += [
                {**old, "_change_type": "update_preimage"},
                {**new, "_change_type": "update_postimage"},
            ]
    return History(before, after, changes)


@dataclass
class Chance:
    """What decides one history of all sources.

    Attributes:
        rng: the source of chance.
        literals: values by family of type (`text`, `number`, `date`) that the model's SQL names.
        share: how often a column that meets others takes one of the history's two common values, so that
            the changes of several sources touch the same keys.
    """

    rng: Random
    literals: Mapping[str, Sequence[Any]]
    share: float = 0.0
    _common: dict[str, list[Any]] = field(default_factory=dict)

    def value(self, table: Table, name: str, *, freely: bool = False) -> Any:
        """Draw a value of a column; `freely`: of all its values."""
        if name not in table.never_null and self.rng.random() < (0.05 if name in table.key else 0.15):
            return None
        named = table.values.get(name)
        if named and self.rng.random() < 0.5:
            return self.rng.choice(list(named))
        share = self.share if name in table.meets else TIES if name in table.tied else 0.0
        if not freely and self.rng.random() < share:
            return self.rng.choice(self.common(table.columns[name]))
        return value_of(table.columns[name], self.rng, self.literals)

    def common(self, kind: str) -> list[Any]:
        """Return the two common values of a type in this history."""
        family = "int" if kind.lower() in INTEGERS else kind.lower()
        if family not in self._common:
            self._common[family] = [value_of(kind, self.rng, self.literals) for _ in range(2)]
        return self._common[family]

    def place(self, table: Table, rows: Mapping[Any, Row]) -> Any:
        """Choose a row to change; mostly one with a common value."""
        touching = [
            place
            for place, row in rows.items()
            if any(row[name] in self.common(table.columns[name]) for name in table.meets)
        ]
        return self.rng.choice(touching if touching and self.rng.random() < self.share else list(rows))


def draw_history(table: Table, chance: Chance, *, changes: bool) -> History:
    """Draw one history of a table.

    Args:
        table: the table.
        chance: what decides the history; one for all sources.
        changes: whether the table has changes since the last run.
    """
    rows: dict[Any, Row] = {}
    rng = chance.rng
    for _ in range(rng.randrange(9)):
        _insert(table, chance, rows)
    history = History(before={place: dict(row) for place, row in rows.items()})
    for _ in range(rng.randint(1, 3) if changes else 0):
        for _ in range(rng.randint(1, 3)):
            _change(table, chance, rows, history.changes)
    history.after = {place: dict(row) for place, row in rows.items()}
    return history


def _change(table: Table, chance: Chance, rows: dict[Any, Row], log: list[Row]) -> None:
    rng = chance.rng
    operation = rng.choice(("insert", "update", "update", "delete"))
    if operation == "insert" or not rows:
        inserted = _insert(table, chance, rows)
        if inserted is not None:
            log.append({**inserted, "_change_type": "insert"})
        return
    place = chance.place(table, rows)
    before = rows[place]
    if operation == "delete":
        log.append({**rows.pop(place), "_change_type": "delete"})
        return
    after = dict(before)
    others = [name for name in table.columns if name not in table.key]
    for name in rng.sample(others, min(len(others), rng.randint(1, 2))):
        after[name] = chance.value(table, name)
    if _clashes(table, after, [row for other, row in rows.items() if other != place]):
        return
    rows[place] = after
    log += [{**before, "_change_type": "update_preimage"}, {**after, "_change_type": "update_postimage"}]


def _insert(table: Table, chance: Chance, rows: dict[Any, Row]) -> Row | None:
    for attempt in range(2):  # the common values of a key are soon taken
        row = {name: chance.value(table, name, freely=attempt > 0) for name in table.columns}
        place = _key_of(row, table.key) if table.key else len(rows) + chance.rng.random()
        if place not in rows and not _clashes(table, row, list(rows.values())):
            rows[place] = row
            return row
    return None


def _clashes(table: Table, row: Row, others: Sequence[Row]) -> bool:
    """Return whether another row has the same values of one of the other keys."""
    for key in table.keys:
        values = _key_of(row, key)
        if None not in values and any(_key_of(other, key) == values for other in others):
            return True
    return False


def _key_of(row: Row, key: Sequence[str]) -> tuple[str | None, ...]:
    """Return the values of a key as text: a date of a unit test may be one, or its text."""
    return tuple(None if row[name] is None else str(row[name]) for name in key)


def value_of(kind: str, rng: Random, literals: Mapping[str, Sequence[Any]]) -> Any:
    """Draw a value of a Spark type; of a small domain, or one that the model's SQL names.

    Args:
        kind: the type.
        rng: the source of chance.
        literals: values by family of type that the model's SQL names.

    Raises:
        ValueError: for a type that no value can be drawn for.
    """
    kind = kind.lower()
    number = rng.randrange(VALUES_PER_COLUMN)
    named = literals.get(
        "text" if kind == "string" else "date" if kind in ("date", "timestamp") else "number", ()
    )
    pick = rng.choice(list(named)) if named and rng.random() < 0.5 else None
    if kind == "boolean":
        return rng.random() < 0.3
    if kind == "string":
        return pick if pick is not None else "abcd"[number]
    if kind == "date":
        day = datetime.date(2025, 1, 1) + datetime.timedelta(days=number)
        return pick if pick is not None else day
    if kind.startswith("timestamp"):
        return datetime.datetime(2025, 1, 1 + number % 2, rng.choice((0, 5, 23)), 30 * (number // 2))
    if kind == "binary":
        return "QUI=" if number % 2 else "QkI="  # as in JSON: base 64
    return _number_of(kind, number, pick)


def _number_of(kind: str, number: int, pick: Any) -> int | float | Decimal:
    """Return a value of a numeric type: a small one that was picked, or else one that a digit gives."""
    if kind in INTEGERS:
        return int(pick) if pick is not None and abs(pick) < 100 else number
    if kind.startswith("decimal"):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        value = Decimal(pick) if pick is not None and abs(pick) < 100 else Decimal(number) * Decimal("0.5")
        return (
            value.quantize(Decimal(1).scaleb(-scale))
            if precision > scale + 2
            else Decimal(number).scaleb(-scale)
        )
    if kind in ("float", "double"):
        return float(number) / 2
    raise ValueError(kind)
