"""Literal tables, commits and checkpoints for tests of decisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract
from tidemark.engine.decision.commits import SIGNATURE, Commit, delta_commit, iceberg_commits
from tidemark.engine.decision.facts import Facts, Source
from tidemark.engine.decision.losses import FEED
from tidemark.engine.decision.tables import DELTA, ICEBERG, TableState
from tidemark.engine.decision.ways import DERIVED, MERGE, Way

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = Contract("columns", "grain", "sql", "macros", "variables")
RAW, DAYS = "bronze.raw", "gold.days"


def commit(version: int, operation: str = "WRITE", **more: Any) -> Commit:
    """Return a commit of a Delta table; version 1 is of noon, each next one of an hour later."""
    row = {
        "version": version,
        "operation": operation,
        "timestamp": NOON + timedelta(hours=version - 1),
        "operationMetrics": more.pop("metrics", {}),
        "operationParameters": more.pop("parameters", {}),
        "userMetadata": more.pop("signed", SIGNATURE),
    }
    return delta_commit(row, more.pop("are_signed", True))


def snapshots(*operations: str, signed: str = SIGNATURE) -> list[Commit]:
    """Return the commits of an Iceberg table with the snapshots 10, 20, …, newest first."""
    rows = [
        {
            "snapshot_id": 10 * number,
            "parent_id": 10 * (number - 1) or None,
            "operation": operation,
            "committed_at": NOON,
            "summary": {"written-by": signed, "added-records": "3"},
            "present_id": 10 * len(operations),
        }
        for number, operation in enumerate(operations, 1)
    ]
    return iceberg_commits(rows, are_signed=True)


def delta(version: int, *newest: Commit, **more: Any) -> TableState:
    """Return a Delta table with a change data feed, and its newest commits."""
    return TableState(
        more.pop("id", "id"),
        version,
        DELTA,
        {FEED: "true", **more.pop("properties", {})},
        commits=newest,
        **more,
    )


def iceberg(*operations: str) -> TableState:
    """Return an Iceberg table."""
    found = snapshots(*operations)
    return TableState(ICEBERG, found[0].version if found else 0, ICEBERG, commits=found)


def read(version: int | None, kind: str = "changes", **more: Any) -> Checkpoint:
    """Return a checkpoint of `gold.days` on `bronze.raw`."""
    values = {
        "source_id": "id",
        "table_version": 5,
        "table_id": "own",
        "contract": NOW,
        "recorded_at": 9,
        **more,
    }
    return Checkpoint(DAYS, values.pop("source", RAW), 3, kind, version=version, **values)


def source(now: TableState | None, checkpoint: Checkpoint | None, **more: Any) -> Source:
    """Return a source of `gold.days`."""
    return Source(checkpoint.source if checkpoint else RAW, now, checkpoint, **more)


def facts(*sources: Source, way: str = DERIVED, **more: Any) -> Facts:
    """Return a model whose own table is as its last run left it."""
    known = Checkpoints([each.checkpoint for each in sources if each.checkpoint])
    values: dict[str, Any] = {"own": delta(5, id="own"), "checkpoints": known, "contract": NOW, **more}
    chosen = way if isinstance(way, Way) else Way(way)
    return Facts(DAYS, chosen, sources=sources, **values)


MERGED = Way(MERGE)
