"""The tables that models write: their last run, what they have not read yet, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tidemark.base.clock import Clock, utc_now, utc_time
from tidemark.base.output import count_of
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import VIEWS, table_of
from tidemark.maintain.small_files import has_small_files
from tidemark.operate.status.files import Files, files_of
from tidemark.operate.status.level import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINE = "\n"
LAST_RUN = ("status", "message", "rows_rejected", "rows_inserted + rows_updated + rows_deleted as written")


@dataclass(frozen=True)
class TableStatus:
    """The state of a model's table.

    Attributes:
        table: `schema.name`.
        last_run_at: when a run last read something for it; None if that is not recorded.
        rows_written: rows that this run inserted, updated and deleted; None if it failed.
        rows_rejected: rows that its rules rejected in this run; None if it has no rules.
        versions_behind: versions of its sources that it has not read.
        seconds_behind: the age of the oldest of them; None if there are none.
        files, bytes: of its present version.
        has_small_files: whether `tidemark maintain` would pay.
        level: an error if its last run failed or there is no table, a warning for small files.
        problem: what is wrong, in words; empty for nothing.
    """

    table: str
    last_run_at: datetime | None
    rows_written: int | None
    rows_rejected: int | None
    versions_behind: int
    seconds_behind: float | None
    files: int
    bytes: int
    has_small_files: bool
    level: Level
    problem: str


def table_states(spark: SparkSession, project: Project, clock: Clock = utc_now) -> list[TableStatus]:
    """Return the states of all models with tables, sorted by name."""
    nodes = [node for node in project.manifest.nodes.values() if node.resource_type == "model"]
    models = sorted(table_of(one) for one in nodes if one.config.materialized not in VIEWS)
    state = State(spark, project.ops_schema)
    runs, versions_read = state.newest_model_runs(LAST_RUN), state.versions_read()
    files = {name: files_of(spark, name) for name in {*models, *versions_read}}
    found = []
    for name in models:
        unread = [files[source].after(read[name]) for source, read in versions_read.items() if name in read]
        found.append(
            _state(name, files[name], runs.get(name), [at for times in unread for at in times], clock())
        )
    return found


def _state(name: str, own: Files, run: Any, unread: Sequence[datetime], now: datetime) -> TableStatus:
    failed = bool(run and run["status"] != "success")
    is_small = has_small_files(own.number, own.bytes)
    level, problem = Level.OK, ""
    if failed:
        level, problem = (
            Level.ERROR,
            f"the last run failed: {(run['message'] or '').strip().partition(LINE)[0]}",
        )
    elif not own.exists:
        level, problem = Level.WARNING, "not built yet"
    elif is_small:
        level = Level.WARNING
        problem = f"{count_of(own.number, 'small file')}; `tidemark maintain {name}` merges them"
    return TableStatus(
        name,
        last_run_at=utc_time(run["at"]) if run else None,
        rows_written=run["written"] if run and not failed else None,
        rows_rejected=run["rows_rejected"] if run else None,
        versions_behind=len(unread),
        seconds_behind=(now - min(unread)).total_seconds() if unread else None,
        files=own.number,
        bytes=own.bytes,
        has_small_files=is_small,
        level=level,
        problem=problem,
    )
