"""What a commit of a Delta table did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Appended:
    """What a commit appended, according to the statistics of its files.

    Attributes:
        rows: number of rows.
        nulls: number of null values by column; columns without statistics are left out.
    """

    rows: int
    nulls: dict[str, int]


@dataclass(frozen=True)
class Written:
    """What a commit did to the rows of a table.

    Attributes:
        operation: the operation, as `describe history` names it.
        number: the number of the append, if the given writer made it.
        removes: whether it removed files with rows, except to rewrite the same rows.
    """

    operation: str
    number: int | None
    removes: bool


def history_row(version: int, written: int, info: dict[str, Any]) -> dict[str, Any]:
    parameters = info.get("operationParameters") or {}
    return {
        "version": version,
        "timestamp": datetime.fromtimestamp(written / 1000, UTC).replace(tzinfo=None),
        "operation": info.get("operation"),
        "operationParameters": {
            name: value if value is None or isinstance(value, str) else json.dumps(value)
            for name, value in parameters.items()
        },
        "operationMetrics": info.get("operationMetrics") or {},
        "userMetadata": info.get("userMetadata"),
    }
