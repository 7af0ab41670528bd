"""`tidemark maintain`: small files are merged and old versions deleted, with one line for each table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from python_ingest.console.output import count_of, output
from python_ingest.errors import LakeBusyError, TidemarkError
from python_ingest.lake import maintenance
from python_ingest.lake.maintenance_plan import plan
from python_ingest.lake.table_locks import locked
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def show_plan(spark: SparkSession, project: Project, names: Sequence[str], hours: int) -> None:
    """Print what maintenance would do to each table.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        hours: keep the versions of the last `hours`.
    """
    for planned in plan(
        spark, maintenance.chosen_tables(spark, project.tables, names), hours, project.ops_schema
    ):
        said = [f"{count_of(planned.small_files, 'file')} to merge"] if planned.small_files else []
        if planned.unread:
            said.append(f"versions kept for {', '.join(planned.unread)}")
        elif planned.old:
            said.append(f"{planned.old:,} old to delete")
        facts = {"small_files": planned.small_files, "old": planned.old, "unread": planned.unread}
        output.row("planned", planned.table, "; ".join(said) or "nothing to do", 0.0, **facts)


def maintain_tables(spark: SparkSession, project: Project, names: Sequence[str], hours: int) -> None:
    """Merge small files of tables, then delete old versions, and print a line for each table.

    A table is locked while it is maintained. One that another process writes is left out.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        hours: keep the versions of the last `hours`.

    Raises:
        TidemarkError: at the end, if versions were kept for a model, or another process held a table.
    """
    unread, busy = [], []
    for table in maintenance.chosen_tables(spark, project.tables, names):
        try:
            with locked(table):
                (merged,) = maintenance.compact(spark, [table])
                (expired,) = maintenance.expire(spark, [table], hours, project.ops_schema)
        except LakeBusyError as error:
            busy.append(error.what)
            continue
        said = [f"{count_of(merged.before, 'file')} into {merged.after:,}"] if merged.before else []
        said += [f"{count_of(expired.before, 'file')} deleted"] if expired.before else []
        said += ["old versions kept"] if expired.unread else []
        seconds = merged.seconds + expired.seconds
        facts = {"before": merged.before, "after": merged.after, "deleted": expired.before}
        output.row("maintained", table, "; ".join(said) or "no change", seconds, **facts)
        unread += [f"{table} by {reader}" for reader in expired.unread]
    if busy:
        raise TidemarkError(" ".join(busy), "The other tables are maintained. Run the command again later.")
    if unread:
        raise TidemarkError(
            f"Some versions older than {hours} hours have not been read yet: {'; '.join(unread)}.",
            "Run these models first, or keep more hours. Without these versions they must be rebuilt.",
        )
