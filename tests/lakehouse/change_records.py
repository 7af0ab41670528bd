"""Random change records of customers, how they land, and what all of them together say, in plain Python."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

BATCHES = 3
LANDED = (
    "_rescued_data string, _corrupt_record string, _source_file string, _source_modified_at timestamp, "
    "_row_number bigint, _batch_id bigint, _ingested_at timestamp"
)
FLAT = (
    "customer_id string, sequence string, change_type string, name string, city string, changed_at string, "
    + LANDED
)
IMAGE = "struct<customer_id: bigint, name: string, city: string>"
ENVELOPE = (
    f"before {IMAGE}, after {IMAGE}, op string, ts_ms bigint, source struct<lsn: bigint, ts_ms: bigint>, "
    + LANDED
)
WORDS = {
    "insert": ["insert", "INSERT", "I", "c", "r", "Read", "snapshot", "create"],
    "update": ["update", "Update", "U", "u", "upsert"],
    "delete": ["delete", "DELETE", "D", "d "],
}
FAULTS = {
    "customer_id": "customer_id is not a whole number",
    "sequence": "sequence is not a whole number",
    "change_type": "change_type is not known",
    "changed_at": "changed_at is not a time",
}
BROKEN = {"customer_id": "", "sequence": "next", "change_type": "truncate", "changed_at": None}
Rows = set[tuple[object, ...]]


class Change(NamedTuple):
    """What a record says; the time is in seconds since 1970."""

    customer: int
    sequence: int
    change_type: str
    name: str | None
    city: str | None
    changed_at: int

    @property
    def id(self) -> str:
        fields = {
            "customer_id": self.customer,
            "sequence": self.sequence,
            "change_type": self.change_type,
            "name": self.name,
            "city": self.city,
            "changed_at": f"{_utc(self.changed_at)}.000000Z",
        }
        text = json.dumps({k: v for k, v in fields.items() if v is not None}, separators=(",", ":"))
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class Record(NamedTuple):
    """A landed record: a change in one of its spellings, with the name of a field that is broken."""

    change: Change
    word: str
    fault: str | None
    batch: int
    row: int

    def flat(self) -> tuple[object, ...]:
        """The record as a line of text fields."""
        change = self.change
        fields = {
            "customer_id": str(change.customer),
            "sequence": str(change.sequence),
            "change_type": self.word,
            "name": change.name,
            "city": change.city,
            "changed_at": f"{_utc(change.changed_at)}Z",
        }
        if self.fault:
            fields[self.fault] = BROKEN[self.fault]
        return (*fields.values(), *self._landed(2 * self.row))

    def envelopes(self) -> Iterator[tuple[object, ...]]:
        """The record in an envelope; a delete is followed by a tombstone."""
        change, fault = self.change, self.fault
        image = (None if fault == "customer_id" else change.customer, change.name, change.city)
        before, after = {
            "insert": (None, image),
            "update": ((change.customer, "before", None), image),
            "delete": (image, None),
        }[change.change_type]
        op = {"insert": "r" if self.row % 2 else "c", "update": "u", "delete": "d"}[change.change_type]
        source = (
            None if fault == "sequence" else change.sequence,
            None if fault == "changed_at" else change.changed_at * 1000,
        )
        sent = self.batch * 1000 + self.row
        op = "t" if fault == "change_type" else op
        yield (before, after, op, sent, source, *self._landed(2 * self.row))
        if op == "d":
            yield (None, None, None, None, None, *self._landed(2 * self.row + 1))

    def _landed(self, row: int) -> tuple[object, ...]:
        now = datetime(2025, 1, self.batch, tzinfo=UTC)
        return (None, None, f"changes-{self.batch}", now, row, self.batch, now)


def example(customer: int) -> list[Record]:
    """Ann is known at 10, 30 and 40; then 20 comes late, 50 brings her back, and 10 comes again."""
    changes = [
        (1, 10, "insert", "Bonn", 9),
        (1, 30, "update", "Oslo", 11),
        (1, 40, "delete", None, 12),
        (2, 20, "update", "Rome", 10),
        (2, 50, "insert", "Bern", 13),
        (2, 10, "insert", "Bonn", 9),
    ]
    return [
        Record(
            Change(customer, sequence, word, "Ann", city, 3600 * hour),
            word,
            None,
            batch,
            100 * customer + row,
        )
        for row, (batch, sequence, word, city, hour) in enumerate(changes)
    ]


def random_history(customer: int, chance: random.Random) -> list[Record]:
    """A customer's changes: any order of arrival, repeats, skewed clocks, ties, deletes and re-inserts."""
    batches = chance.sample(range(1, BATCHES + 1), chance.randint(1, BATCHES))
    changes = []
    for sequence in chance.sample(range(1, 12), chance.randint(1, 8)):
        for _ in range(chance.choice([1] * 9 + [2])):  # 2: the source gave one sequence twice
            change_type = chance.choice(["insert", "update", "update", "delete"])
            name, city = chance.choice(["Ann", "Bob", None]), chance.choice(["Bonn", "Rome"])
            at = 60 * (sequence // 2) + chance.choice([0, 0, 0, 7, -150, 200])
            changes.append(Change(customer, sequence, change_type, name, city, at))
    records = []
    for change in [*changes, *chance.choices(changes, k=chance.randint(0, 4))]:
        fault = chance.choice(list(FAULTS)) if chance.random() < 0.05 else None
        row = customer * 100 + len(records)
        word = chance.choice(WORDS[change.change_type])
        records.append(Record(change, word, fault, chance.choice(batches), row))
    return records


def rebuilt(records: Iterable[Record]) -> dict[str, Rows]:
    """The oracle: each table's rows, by the set of records alone."""
    records = list(records)
    versions = defaultdict(set)
    for record in records:
        if not record.fault:
            versions[record.change.customer].add(record.change)
    tables: dict[str, Rows] = defaultdict(set)
    for found in versions.values():
        in_order = sorted(found, key=lambda change: (change.sequence, change.id))
        begins = [max(c.changed_at for c in in_order[: n + 1]) for n in range(len(in_order))]
        for change, begin, end in zip(in_order, begins, [*begins[1:], None], strict=True):
            gone = change.change_type == "delete"
            key, values = (change.id, change.customer, change.sequence), (change.name, change.city)
            tables["customer_changes"].add((*key, change.change_type, *values, change.changed_at))
            tables["customer_history"].add((*key, *values, gone, begin, end, end is None))
        current = (change.customer, change.sequence, change.id, *values, change.changed_at, gone)
        tables["customers"].add(current)
        tables["enveloped_customers"].add(current)
    tables["rejected_customer_changes"] = {
        (FAULTS[record.fault], record.batch, 2 * record.row) for record in records if record.fault
    }
    return tables


def broken_promises(history: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """What is wrong with rows of `customer_history`, by their intervals alone."""
    intervals = defaultdict(list)
    for _, customer, _, _, _, _, begin, end, is_current in history:
        intervals[customer].append((begin, float("inf") if end is None else end, is_current))
    for customer, found in intervals.items():
        found.sort()
        if [is_current for _, _, is_current in found].count(True) != 1 or not found[-1][2]:
            yield f"customer {customer}: not exactly one current row, the last"
        if any(end < begin for begin, end, _ in found) or found[-1][1] != float("inf"):
            yield f"customer {customer}: an interval ends before it begins, or the last one ends"
        if any(one[1] != other[0] for one, other in pairwise(found)):
            yield f"customer {customer}: a gap or an overlap"


def listed(records: Sequence[Record]) -> str:
    """Records in the order of arrival, a line each."""
    in_order = sorted(records, key=lambda record: (record.batch, record.row))
    return "\n".join(f"batch {r.batch}: {tuple(r.change)} {r.fault or ''}".rstrip() for r in in_order)


def _utc(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
