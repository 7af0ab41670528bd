"""The state of the whole lake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.base.clock import Clock, utc_now
from tidemark.engine.checkpoints.state import State
from tidemark.engine.decision.costs import NUMBER, Choices, by_model, choices
from tidemark.engine.verify.proofs import Proofs, Share
from tidemark.operate.status.feeds import FeedStatus, feed_states
from tidemark.operate.status.level import Level, highest
from tidemark.operate.status.runs import RunStatus, last_run
from tidemark.operate.status.tables import TableStatus, table_states
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class LakeStatus:
    """The state of the lake.

    Attributes:
        feeds: of all feeds.
        tables: of all models with tables.
        run: the last dbt command that read or wrote something; None before the first one.
        choices: whether the newest runs of models took the cheaper way.
        proved: how much of the tables was proved within seven days; None if nothing ever was.
        level: the highest of all levels.
    """

    feeds: list[FeedStatus]
    tables: list[TableStatus]
    run: RunStatus | None
    choices: Choices
    proved: Share | None
    level: Level


def lake_status(spark: SparkSession, project: ProjectWithFeeds, clock: Clock = utc_now) -> LakeStatus:
    """Return the state of the lake; nothing is written.

    Args:
        spark: the session.
        project: the project.
        clock: the present time.
    """
    feeds, tables = feed_states(spark, project, clock), table_states(spark, project, clock)
    run = last_run(spark, project)
    levels = [*(feed.level for feed in feeds), *(table.level for table in tables)]
    names = {table.table for table in tables}
    measured = by_model(State(spark, project.ops_schema).measured_runs(NUMBER))
    runs = {name: those for name, those in measured.items() if name in names}
    proved = Proofs(spark, project.ops_schema).share(names, clock())
    differs = Level.ERROR if proved and proved.differing else Level.OK
    level = highest([*levels, run.level if run else Level.OK, differs])
    return LakeStatus(feeds, tables, run, choices(runs), proved, level)
