"""Random histories of landed rows, and what a full rebuild of each model makes of them, in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.night import NIGHTLY

BATCHES = 8 if NIGHTLY else 6
BUCKETS = 40
SCHEMA = (
    "history int, part string, number string, value int, updated_at int, sequence int, "
    "_is_deleted boolean, _batch_id bigint, _row_number bigint"
)
Rows = set[tuple[object, ...]]


class Landed(NamedTuple):
    """A landed row: a composite key with NULLs, a value, a time with ties and NULLs, a delete flag."""

    history: int
    part: str | None
    number: str | None
    value: int | None
    updated_at: int | None
    sequence: int
    is_deleted: bool
    batch: int
    row: int

    @property
    def key(self) -> tuple[object, ...]:
        return (self.history, self.part, self.number)

    @property
    def order(self) -> tuple[bool, int, int, int, int]:
        return (self.updated_at is not None, self.updated_at or 0, self.sequence, self.batch, self.row)


def random_history(history: int, chance: random.Random) -> list[Landed]:
    """Inserts, updates, deletes, repeats, ties, late rows and NULLs, in 1-8 batches in random order."""
    batches = chance.sample(range(1, BATCHES + 1), chance.randint(1, BATCHES))
    rows: list[Landed] = []
    for row in range(chance.randint(1, 16)):
        batch = chance.choice(batches)
        if rows and chance.random() < 0.25:
            rows.append(chance.choice(rows)._replace(batch=batch, row=row))
            continue
        key = (chance.choice(["a", "b", None]), chance.choice(["x", None]))
        value = chance.choice([1, 2, 3, None])
        times = (chance.choice([1, 2, 3, 4, None]), chance.choice([0, 0, 1]))
        rows.append(Landed(history, *key, value, *times, chance.random() < 0.25, batch, row))
    return rows


def rebuilt(landed: Iterable[Landed]) -> dict[str, Rows]:
    """The oracle: each model's rows, as a full rebuild over these landed rows gives them."""
    rows = list(landed)
    newest = {row.key: row for row in sorted(rows, key=lambda row: row.order)}
    first = {row.key: row for row in sorted(rows, key=lambda row: (row.batch, row.row), reverse=True)}
    there = [row for row in newest.values() if not row.is_deleted]
    counts = Counter((row.history, row.value) for row in there)
    parts: dict[tuple[object, ...], list[Landed]] = {}
    for row in there:
        parts.setdefault((row.history, row.part), []).append(row)
    return {
        "entities": {
            (*row.key, row.history % BUCKETS, row.value, row.updated_at, row.sequence, row.is_deleted)
            for row in newest.values()
        },
        "value_counts": {(*key, number) for key, number in counts.items()},
        "part_totals": {(*key, *_totals([row.value for row in rows])) for key, rows in parts.items()},
        "first_values": {(*row.key, row.value) for row in first.values()},
        "bucketed": {(row.history % BUCKETS, *row.key, row.value) for row in there},
    }


def _totals(values: Sequence[int | None]) -> tuple[object, ...]:
    known = [value for value in values if value is not None]
    return (len(values), len(known), sum(known), min(known, default=None), max(known, default=None))


def history_of(model: str, row: tuple[object, ...]) -> int:
    """The history that a model's row belongs to."""
    return int(str(row[1] if model == "bucketed" else row[0]))


def shorter(rows: Sequence[Landed]) -> list[list[Landed]]:
    """The history without each of its rows in turn, numbered as histories of their own."""
    return [
        [row._replace(history=left_out) for row in rows if row is not rows[left_out]]
        for left_out in range(len(rows))
        if len(rows) > 1
    ]


def listed(rows: Sequence[Landed]) -> str:
    """A history as a small table, in the order of arrival."""
    names = ("batch", "row", "part", "number", "value", "updated_at", "sequence", "is_deleted")
    lines = [
        tuple(str(getattr(row, name)) for name in names)
        for row in sorted(rows, key=lambda r: (r.batch, r.row))
    ]
    widths = [max(len(line[column]) for line in [names, *lines]) for column in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in [names, *lines]
    )
