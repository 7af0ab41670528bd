"""Messages for Kafka and files, and the rate at which they are sent."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from dev.simulators.change_records import Record

T = TypeVar("T")

BATCH = 500  # operations or messages at a time


@dataclass(frozen=True)
class Message:
    """A record for a topic or a file.

    Attributes:
        name: the name of a table, or of a fleet's events.
        key: the message key for Kafka.
        record: the JSON-ready record.
    """

    name: str
    key: str
    record: Record


def paced(items: Iterable[T], rate: float | None) -> Iterator[list[T]]:
    """Yield the items in batches, at `rate` items per second, or without waiting if it is None."""
    size = BATCH if rate is None else max(1, min(BATCH, int(rate / 2)))
    rest, begun, count = iter(items), time.monotonic(), 0
    while batch := list(islice(rest, size)):
        yield batch
        count += len(batch)
        if rate is not None:
            time.sleep(max(0.0, begun + count / rate - time.monotonic()))


def as_json(record: Record) -> str:
    """Return a record on one line."""
    return json.dumps(record, ensure_ascii=False)
