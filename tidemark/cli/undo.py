"""`tidemark undo`: set tables back to the versions before a run, with one line for each table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened
from tidemark.cli.options import Run
from tidemark.engine.project import Project
from tidemark.engine.project.session import warm_session
from tidemark.engine.runs.undo import Undo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def undo(
    run: Run,
    with_later: Annotated[
        bool,
        typer.Option("--with-later", help="Also undo later runs that depend on it, newest first."),
    ] = False,
) -> None:
    """Undo a run: restore its tables and checkpoints to their previous versions."""
    lakehouse = opened()
    undo_run(warm_session(lakehouse.root), lakehouse, run, with_later=with_later)


def undo_run(spark: SparkSession, project: Project, name: str, *, with_later: bool = False) -> None:
    """Take a run back and print a line for each table.

    Args:
        spark: the session.
        project: the project.
        name: the beginning of a run's invocation_id, or `last`.
        with_later: whether to take back later runs that depend on it, too.

    Raises:
        TidemarkError: if the run cannot be undone.
    """
    runs = Undo(spark, project)
    plan = runs.plan(name, with_later=with_later)
    for run in reversed(plan.runs):
        output.note("undoing", run.label, run=run.id)
    started = time.monotonic()
    for done in runs.run(plan, with_later=with_later):
        message = "dropped: the run created it" if done.before is None else f"back at version {done.before}"
        facts = {"before": done.before, "version": done.version}
        output.row("undone", done.table, message, time.monotonic() - started, **facts)
        started = time.monotonic()
    message = f"{count_of(len(plan.runs), 'run')} undone"
    output.row("recorded", f"{project.ops_schema}.runs", message, time.monotonic() - started)
