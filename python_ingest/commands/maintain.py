"""`tidemark compact` and `tidemark expire`, with one line of output for each table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from python_ingest.console.output import count_of, output
from python_ingest.errors import TidemarkError
from python_ingest.lake import maintenance
from python_ingest.lake.table_locks import locked
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compact_tables(spark: SparkSession, project: Project, names: Sequence[str]) -> None:
    """Compact tables and print a line for each.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
    """
    chosen = maintenance.chosen_tables(spark, project.tables, names)
    with locked(*chosen):
        for done in maintenance.compact(spark, chosen):
            rewritten = f"{count_of(done.before, 'file')} into {done.after:,}" if done.before else "no change"
            output.row("compacted", done.table, rewritten, done.seconds, before=done.before, after=done.after)


def expire_versions(spark: SparkSession, project: Project, names: Sequence[str], hours: int) -> None:
    """Expire old versions of tables and print a line for each.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        hours: keep the versions of the last `hours`.

    Raises:
        TidemarkError: when a model has not read the versions to delete; the other tables are expired first.
    """
    unread = []
    chosen = maintenance.chosen_tables(spark, project.tables, names)
    with locked(*chosen):
        for done in maintenance.expire(spark, chosen, hours, project.ops_schema):
            said = f"{count_of(done.before, 'file')} deleted" if done.before else "no change"
            said = "kept" if done.unread else said
            output.row("expired", done.table, said, done.seconds, files=done.before)
            unread += [f"{done.table} by {reader}" for reader in done.unread]
    if unread:
        raise TidemarkError(
            f"Some versions older than {hours} hours have not been read yet: {'; '.join(unread)}.",
            "Run these models first, or keep more hours. Without these versions they must be rebuilt.",
        )
