"""`tidemark run --select`: which feeds land. No Spark."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.base.errors import DbtError
from tidemark.cli import run
from tidemark.engine.dbt_core import profiles
from tidemark.engine.project.build import Built
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R2


@pytest.fixture(scope="module")
def lakehouse() -> ProjectWithFeeds:
    return ProjectWithFeeds.load()


@pytest.mark.parametrize(
    ("selection", "feeds"),
    [
        (["source:bronze.user_events+"], ["user_events"]),
        (["source:bronze.user_events+", "source:bronze.transactions"], ["transactions", "user_events"]),
        (["+gold.activity", "event_types"], ["user_events"]),
        (["daily_user_events silver.devices"], ["device_events"]),
        (["gold.purchases"], []),
        (["event_types"], []),
    ],
)
def test_feeds_that_are_selected_land(
    lakehouse: ProjectWithFeeds, selection: list[str], feeds: list[str]
) -> None:
    """R2.3: the sources among what is selected; where there are none, those that selected models read."""
    assert sorted(lakehouse.selected_names(selection)) == feeds


def test_a_selection_that_matches_nothing_is_refused(lakehouse: ProjectWithFeeds) -> None:
    """A misspelt selector lands and builds nothing, and says so."""
    with pytest.raises(DbtError, match=r"Nothing matches source:bronze.ordres\+\."):
        lakehouse.selected_names(["source:bronze.ordres+"])


def test_a_run_lands_them(lakehouse: ProjectWithFeeds, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2.3: `tidemark run --select source:bronze.transactions+` lands that feed alone; without it, all."""
    landed: list[list[str]] = []

    def land(spark: object, project: object, feeds: list[Any]) -> Any:
        landed.append([feed.name for feed in feeds])
        return [], {}

    monkeypatch.setattr(profiles, "embedded_target", lambda root: "")
    monkeypatch.setattr(ProjectWithFeeds, "load", lambda: lakehouse)
    monkeypatch.setattr(run, "hold", lambda folder: None)
    monkeypatch.setattr(run, "start_session", lambda root: None)
    monkeypatch.setattr(run, "warm_session", lambda root: None)
    monkeypatch.setattr(run, "land_each", land)
    monkeypatch.setattr(run, "build_models", lambda options, project: Built())
    run.run(select=["source:bronze.transactions+"])
    run.run()
    assert landed == [["transactions"], list(lakehouse.feeds)]
