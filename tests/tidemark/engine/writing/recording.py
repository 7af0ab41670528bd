"""An executor that records queries and answers them from a list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Recording:
    """Answers the queries of a writer.

    Attributes:
        answers: the rows of each query, in their order.
        queries: the queries that were run.
        views: the queries of the cached views by name.
    """

    answers: list[Sequence[Mapping[str, Any]]]
    queries: list[str] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        self.queries.append(sql)
        return self.answers.pop(0)

    def cached_view(self, name: str, sql: str) -> str:
        self.views[name] = sql
        return f"{name}_view"

    def drop_view(self, name: str) -> None:
        del self.views[name]

    def columns(self) -> Sequence[str]:
        return ["amount", "day", "id"]


def outcomes(**numbers: int) -> list[dict[str, Any]]:
    """Return the answer to the query that counts rows by outcome."""
    return [
        {"__tidemark_outcome": outcome, "rows": number, "versions": number}
        for outcome, number in numbers.items()
    ]


def distinct(*each: str, number: int = 0, nulls: int = 0, kind: str = "date") -> dict[str, Any]:
    """Return the answer to the query of a column's values: each, or their bounds if `number` is given."""
    listed = None if number else json.dumps(each)
    bounds = {"lowest": min(each, default=None), "highest": max(each, default=None)}
    return {"number": number or len(each) + nulls, "nulls": nulls, "type": kind, "each": listed, **bounds}
