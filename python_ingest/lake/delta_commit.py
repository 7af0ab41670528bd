"""What a commit of a Delta table did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any


@dataclass(frozen=True)
class Appended:
    """What a commit appended, by the statistics of its files.

    Attributes:
        rows: how many.
        nulls: how many of them are null, by column; a column without statistics is missing.
    """

    rows: int
    nulls: dict[str, int]


@dataclass(frozen=True)
class Written:
    """What a commit did to the rows of a table.

    Attributes:
        operation: as `describe history` names it.
        number: that of the append, where it is one of the writer that was asked for.
        removes: whether it took files of rows away, other than to write the same rows anew.
    """

    operation: str
    number: int | None
    removes: bool


def history_row(version: int, written: int, info: dict[str, Any]) -> dict[str, Any]:
    parameters = info.get("operationParameters") or {}
    return {
        "version": version,
        "timestamp": datetime.fromtimestamp(written / 1000, timezone.utc).replace(tzinfo=None),
        "operation": info.get("operation"),
        "operationParameters": {
            name: value if value is None or isinstance(value, str) else json.dumps(value)
            for name, value in parameters.items()
        },
        "operationMetrics": info.get("operationMetrics") or {},
        "userMetadata": info.get("userMetadata"),
    }
