"""Check a key on all records that were read: exact copies, different records with one key, and NULLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tidemark.base.output import count_of

RECORDS = 500_000


@dataclass(frozen=True)
class KeyCheck:
    """What the records show about a key.

    Attributes:
        fields: the fields of the key.
        records: the number of records.
        copies: how many of them are exact copies of others.
        shared: how many different records share their key, and the version, with another one.
        keys: the number of such keys.
        example: the values of one of these keys, and the number of its records.
        nulls: how many records have no value in some field of the key, by field.
    """

    fields: tuple[str, ...]
    records: int
    copies: int
    shared: int
    keys: int
    example: tuple[tuple[Any, ...], int]
    nulls: dict[str, int]

    def notes(self) -> list[tuple[str, str]]:
        """Return what a user has to know: pairs of an event and a sentence."""
        found = []
        name = ", ".join(self.fields)
        if self.copies == 1:
            found.append(("copies", "1 row is an exact copy of another: it counts once in silver"))
        elif self.copies:
            message = f"{self.copies:,} rows are exact copies of others: they count once in silver"
            found.append(("copies", message))
        if self.shared:
            values, number = self.example
            shown = f"{name}: {number:,} different records share ({', '.join(map(str, values))})"
            total = f"{self.shared:,} records have {count_of(self.keys, 'key')}"
            kept = "silver keeps the one that landed last; use `--key` for other columns"
            found.append(("key", f"{shown}; in all, {total}: {kept}"))
        for field, number in self.nulls.items():
            of = count_of(self.records, "record")
            found.append(("key", f"{field}: {number:,} of {of} have no value: they are rejected"))
        return found


def check_key(records: Iterable[Mapping[str, Any]], fields: Sequence[str], newest: str | None) -> KeyCheck:
    """Check a key.

    Args:
        records: the records.
        fields: the fields of the key.
        newest: the field that tells versions of one record apart, or None.
    """
    wholes: dict[int, int] = {}  # the hash of the key of each different record, by the record's hash
    values: dict[int, tuple[Any, ...]] = {}
    nulls: Counter[str] = Counter()
    number = whole = 0
    for row in islice(records, RECORDS):
        number += 1
        key = tuple(row.get(field) for field in fields)
        nulls.update(field for field, value in zip(fields, key, strict=True) if value is None)
        if None in key:
            continue
        whole += 1
        version = (key, row.get(newest)) if newest else key
        hashed = hash(repr(version))
        values.setdefault(hashed, key)
        wholes.setdefault(hash(repr(row)), hashed)
    shared = {key: count for key, count in Counter(wholes.values()).items() if count > 1}
    most = max(shared, key=lambda key: shared[key], default=None)
    return KeyCheck(
        tuple(fields),
        number,
        whole - len(wholes),
        sum(shared.values()),
        len(shared),
        ((), 0) if most is None else (values[most], shared[most]),
        dict(nulls),
    )
