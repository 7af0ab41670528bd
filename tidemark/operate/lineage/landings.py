"""The lineage of a landing, if the environment names a place for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.feeds.declarations import Feed
from tidemark.base.clock import utc_now
from tidemark.engine.project import Project
from tidemark.engine.runs.lineage.sending import is_on, send

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent
    from pyspark.sql import SparkSession


def report_landing(
    spark: SparkSession, project: Project, feed: Feed, started: datetime, outcome: int | Exception
) -> None:
    """Send the events of a landing that has landed rows or failed.

    Args:
        spark: the session.
        project: the project.
        feed: the feed.
        started: when the landing began, in UTC.
        outcome: the number of rows that landed, or the error.
    """
    if not is_on() or outcome == 0:
        return

    def events() -> Iterator[RunEvent]:
        from tidemark.engine.runs.lineage.datasets import Tables, located_by
        from tidemark.engine.runs.lineage.events import Done
        from tidemark.operate.lineage.events import landing_events

        name = str(project.manifest.metadata.project_name) if project.manifest else project.root.name
        rows = outcome if isinstance(outcome, int) else None
        done = Done(started, utc_now(), str(outcome) if rows is None else None)
        yield from landing_events(name, feed, done, Tables(located_by(spark)), rows)

    send(events)
