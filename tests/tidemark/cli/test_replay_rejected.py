"""`tidemark replay-rejected`: what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from python_ingest.feeds.declarations import feeds_of
from tidemark.base.errors import LandingError
from tidemark.cli import replay_rejected as command
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R1


def test_a_table_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: no rows of a table are rejected; without names, the other feeds land theirs again."""
    table = {"connector": "postgresql", "connection": "shop", "table": "public.payments", "key": "id"}
    files = {"location": "data/raw/orders", "pattern": "*.json", "file_format": "json"}
    nodes = [
        {
            "name": name,
            "schema": "bronze",
            "original_file_path": "models/feeds.yml",
            "external": external,
            "columns": {"id": {"name": "id", "data_type": "string"}},
        }
        for name, external in (("payments", table), ("orders", files))
    ]
    project = ProjectWithFeeds(Path(), "ops", feeds=feeds_of(nodes))
    replayed: list[str] = []

    def land(spark: object, project: object, feeds: list[Any], options: Any) -> None:
        replayed.extend(feed.name for feed in feeds)

    monkeypatch.setattr(command, "opened", lambda: project)
    monkeypatch.setattr(command, "warm_session", lambda root: None)
    monkeypatch.setattr(command.landing, "land", land)
    with pytest.raises(LandingError, match="No rows of payments are rejected"):
        command.replay_rejected(["orders", "payments"])
    assert replayed == []
    command.replay_rejected(["orders"])
    assert replayed == ["orders"]
    command.replay_rejected()
    assert "payments" in replayed, "its landing leaves it out"
