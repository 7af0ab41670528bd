"""The lineage of a landing, if the environment names a place for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from python_ingest.land_one import Landing
from tidemark.engine.project import Project
from tidemark.engine.runs.lineage.sending import is_on, send

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent
    from pyspark.sql import SparkSession


def report_landing(spark: SparkSession, project: Project, landing: Landing) -> None:
    """Send the events of a landing that has landed rows or failed.

    Args:
        spark: the session.
        project: the project.
        landing: the landing.
    """
    rows = landing.outcome.rows_landed if landing.outcome else None
    if not is_on() or not (rows or landing.error):
        return

    def events() -> Iterator[RunEvent]:
        from tidemark.engine.runs.lineage.datasets import Tables, located_by
        from tidemark.engine.runs.lineage.events import Done
        from tidemark.operate.lineage.events import landing_events

        name = str(project.manifest.metadata.project_name) if project.manifest else project.root.name
        done = Done(landing.began, landing.ended, str(landing.error) if landing.error else None)
        yield from landing_events(name, landing.feed, done, Tables(located_by(spark)), rows)

    send(events)
