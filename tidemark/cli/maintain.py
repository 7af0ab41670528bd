"""`tidemark maintain`: clusters, compaction, expiry and logs, with one line for each table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from rich.filesize import decimal

from python_ingest.ops import STATE_TABLES
from tidemark.base.errors import LakeBusyError, TidemarkError
from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened
from tidemark.cli.options import OnlyPlan
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import table_of
from tidemark.engine.project.session import warm_session
from tidemark.lake.retention import Kept
from tidemark.lake.stage_tables import stage_tables
from tidemark.lake.table_locks import locked
from tidemark.maintain.clustering_by_format import clusterings_of
from tidemark.maintain.maintenance import chosen_tables
from tidemark.maintain.maintenance import maintain as maintain_table
from tidemark.maintain.maintenance_plan import plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def maintain(
    tables: Annotated[
        Optional[list[str]], typer.Argument(help="Tables as schema.name (default: all).")
    ] = None,
    hours: Annotated[
        int, typer.Option("--older-than", min=0, help="Keep versions of the last N hours.")
    ] = 168,
    log_hours: Annotated[
        int,
        typer.Option(
            "--log-older-than", min=0, help="Keep logs of the last N hours (never fewer than versions)."
        ),
    ] = 720,
    only_plan: OnlyPlan = False,
) -> None:
    """Cluster tables, merge small files, delete old versions and logs, but nothing that a model needs."""
    lakehouse = opened()
    act = show_plan if only_plan else maintain_tables
    act(warm_session(lakehouse.root), lakehouse, tables or [], Kept(hours, log_hours))


def show_plan(spark: SparkSession, project: Project, names: Sequence[str], kept: Kept) -> None:
    """Print what maintenance would do to each table.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        kept: how long versions and logs are kept.

    Raises:
        TidemarkError: if a table cannot be clustered by the columns that are declared for it.
    """
    tables = chosen_tables(spark, _tables(project), names)
    read = State(spark, project.ops_schema).versions_read()
    for planned in plan(spark, tables, kept, read, declared_clustering(project)):
        message = [f"{count_of(planned.small_files, 'file')} to merge"] if planned.small_files else []
        if planned.clustered_by:
            new = f"{count_of(planned.new.number, 'new file')} ({decimal(planned.new.bytes)})"
            columns = ", ".join(planned.clustered_by)
            message.append(f"{new if planned.new.number else 'nothing new'} to cluster by {columns}")
        if planned.unread:
            message.append(f"versions kept for {', '.join(planned.unread)}")
        message += [f"{planned.old:,} old to delete"] if planned.old else []
        message += [f"{count_of(planned.log, 'file')} of the log to delete"] if planned.log else []
        message += ["retention to set"] if planned.lacks else []
        facts = {"small_files": planned.small_files, "old": planned.old, "unread": planned.unread}
        clusters = {"files_to_cluster": planned.new.number, "bytes_to_cluster": planned.new.bytes}
        facts |= {"clustered_by": list(planned.clustered_by), **clusters, "log_files": planned.log}
        output.row("planned", planned.table, "; ".join(message) or "nothing to do", 0.0, **facts)


def maintain_tables(spark: SparkSession, project: Project, names: Sequence[str], kept: Kept) -> None:
    """Cluster tables or merge their small files, then delete old versions, and print a line for each table.

    A table is locked while it is maintained. One that another process writes is left out.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        kept: how long versions and logs are kept.

    Raises:
        TidemarkError: before anything is done, if a table cannot be clustered by its declared columns; at the
            end, if versions were kept for a model, or another process held a table.
    """
    unread, busy = [], []
    tables = chosen_tables(spark, _tables(project), names)
    _maintain_stages(spark, project, tables, kept)
    clusterings = clusterings_of(spark, tables, declared_clustering(project))
    for table in tables:
        try:
            with locked(table):
                readers = State(spark, project.ops_schema).versions_read().get(table, {})
                done = maintain_table(spark, table, kept, readers, clusterings.get(table))
        except LakeBusyError as error:
            busy.append(error.what)
            continue
        message = [f"{count_of(done.before, 'file')} into {done.after:,}"] if done.before else []
        message += (
            [f"clustered by {', '.join(done.clustered_by)}"] if done.before and done.clustered_by else []
        )
        message += [f"{count_of(done.deleted, 'file')} deleted"] if done.deleted else []
        message += [f"{count_of(done.log, 'file')} of the log deleted"] if done.log else []
        message += ["retention set"] if done.is_set else []
        message += ["old versions kept"] if done.unread else []
        facts = {"before": done.before, "after": done.after, "deleted": done.deleted, "log_deleted": done.log}
        output.row("maintained", table, "; ".join(message) or "no change", done.seconds, **facts)
        unread += [f"{table} by {reader}" for reader in done.unread]
    if busy:
        raise TidemarkError(" ".join(busy), "The other tables are maintained. Run the command again later.")
    if unread:
        raise TidemarkError(
            f"Some versions older than {kept.hours} hours have not been read yet: {'; '.join(unread)}.",
            "Run these models first, or keep more hours. Without these versions they must be rebuilt.",
        )


def _maintain_stages(spark: SparkSession, project: Project, tables: Sequence[str], kept: Kept) -> None:
    """Maintain the stages of models with them, and drop those of models that are gone."""
    known = {table.lower() for table in project.tables}
    chosen = {table.lower() for table in tables}
    schemas = sorted({table.partition(".")[0] for table in project.tables})
    stages = {table: model for schema in schemas for table, model in stage_tables(spark, schema).items()}
    for stage, model in stages.items():
        with suppress(LakeBusyError), locked(model):  # else the next maintenance does it
            if model not in known:
                spark.sql(f"drop table {stage}")
                output.row("dropped", stage, f"a stage of {model}, which the project does not have", 0.0)
            elif model in chosen:
                maintain_table(spark, stage, kept, {}, None)


def _tables(project: Project) -> list[str]:
    """Return the project's tables and the state tables."""
    return [*project.tables, *(f"{project.ops_schema}.{name}" for name in STATE_TABLES)]


def declared_clustering(project: Project) -> dict[str, list[str]]:
    """Return the columns by which each table is to be clustered.

    They are `meta.cluster_by` of a model, seed, snapshot or feed, or `liquid_clustered_by` of a model, as in
    dbt-databricks.

    Args:
        project: the project, parsed.

    Raises:
        TidemarkError: if a declaration is neither a column nor a list of columns.
    """
    if project.manifest is None:
        return {}
    nodes = (*project.manifest.nodes.values(), *project.manifest.sources.values())
    declared = {}
    for node in nodes:
        columns = (node.config.get("meta") or {}).get("cluster_by") or node.config.get("liquid_clustered_by")
        columns = [columns] if isinstance(columns, str) else columns
        if columns and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
            raise TidemarkError(
                f"cluster_by of {node.name} is {columns}.",
                f"Set it to a column or a list of columns: {node.original_file_path}, or its properties.",
            )
        if columns:
            declared[table_of(node)] = columns
    return declared
