"""Change records: a source's description of a row change, as JSON-ready dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from dev.simulators.operations import Operation, Row
from dev.simulators.rng import Rng

Record = dict[str, Any]
T = TypeVar("T")

_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)
_CODES = {"insert": "c", "update": "u", "delete": "d"}


def flat(operation: Operation) -> Record:
    """Return {change_type, sequence, changed_at, …the row's columns}; for a delete, the deleted row."""
    head = {"change_type": operation.kind, "sequence": operation.sequence, "changed_at": operation.at}
    return plain(head | operation.row)


def envelope(operation: Operation, before: Row | None) -> Record:
    """Return a record in Debezium's form: {before, after, op, ts_ms, source: {table, lsn, ts_ms}}.

    Args:
        operation: the change; `op` is `r` (read by a snapshot) for the rows that a shop starts with.
        before: the row before the change, as in `operation.before`; None if the source does not send it.
    """
    milliseconds = (operation.at - _EPOCH) // _MILLISECOND
    return {
        "before": None if before is None else plain(before),
        "after": None if operation.kind == "delete" else plain(operation.row),
        "op": "r" if operation.reason == "stock" else _CODES[operation.kind],
        "ts_ms": milliseconds,
        "source": {"table": operation.table, "lsn": operation.sequence, "ts_ms": milliseconds},
    }


def plain(row: Mapping[str, object]) -> Record:
    """Return a row with JSON values: times like `2025-01-31T09:30:00.000000Z`, decimals as numbers."""
    return {name: _plain(value) for name, value in row.items()}


def disturbed(records: Iterable[T], rng: Rng) -> Iterator[T]:
    """Yield records like a careless transport: each at least once, some twice, some out of order."""
    waiting: list[T] = []
    for record in records:
        waits = rng.below(8) == 0
        if not waits:
            yield record
        if waits or rng.below(12) == 0:
            waiting.append(record)
        if waiting and rng.below(3) == 0:
            yield waiting.pop(rng.below(len(waiting)))
    yield from rng.sample(waiting, len(waiting))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        utc = value.astimezone(UTC)
        return utc.isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value
