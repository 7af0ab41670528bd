"""Read all that a report tells, in about ten statements, whatever the number of tables."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from python_ingest.feeds.declarations import Feed as DeclaredFeed
from python_ingest.feeds.declarations import FileFeed
from tidemark.base.clock import Clock, utc_now, utc_time
from tidemark.engine.project.nodes import VIEWS, stored, table_of
from tidemark.engine.verify.proofs import Proofs
from tidemark.lake.place import lake_location
from tidemark.lake.table_format import table_exists
from tidemark.operate.report.facts import REJECTED, Feed, Landing, Lateness, Report
from tidemark.operate.report.periods import periods
from tidemark.operate.report.state_tables import StateTables
from tidemark.operate.report.tables import rejections, sizes, with_reasons
from tidemark.operate.status.freshness import Limits, limits_of
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SITES = ("site/index.html", "target/static_index.html")  # of `make docs`, of `dbt docs generate --static`


def read_report(
    spark: SparkSession, project: ProjectWithFeeds, page: Path, days: int, clock: Clock = utc_now
) -> Report:
    """Return what a report tells of a lake.

    Args:
        spark: the session, which may be on a server.
        project: the project.
        page: where the page will be, for its links.
        days: how far runs and landings go back.
        clock: gives the time of the report.
    """
    now = clock()
    since = now - timedelta(days=days)
    tables = StateTables(spark, project.ops_schema, since)
    spans = periods(since, tables.first_time(), now)
    runs, run_count = tables.runs()
    totals, landings = _landed(tables.landed(spans))
    changes, change_count = tables.schema_changes()
    state_tables = [f"{project.ops_schema}.{name}" for name in tables.present]
    known = sorted({*project.tables, *state_tables})
    present = [table for table in known if table in state_tables or table_exists(spark, table)]
    built = [table for table in present if table not in state_tables]
    rejected = [table for table in built if table.partition(".")[2].startswith(REJECTED)]
    sources = project.manifest.sources.values()
    limits = {table_of(source): limits_of(source) for source in sources}
    return Report(
        project=project.manifest.metadata.project_name,
        lake=lake_location(),
        made_at=now,
        periods=spans,
        runs=runs,
        run_count=run_count,
        models=len(_models(project.manifest)),
        feeds=tuple(
            _feed(feed, limits.get(feed.table, Limits()), totals.get(name))
            for name, feed in project.feeds.items()
        ),
        unfinished=tables.unfinished(),
        landings=landings,
        model_periods=tables.model_periods(spans),
        rejections=rejections(spark, project.ops_schema, with_reasons(spark, rejected)),
        sizes=sizes(spark, present),
        schema_changes=changes,
        schema_change_count=change_count,
        lost_rows=tables.lost_rows(),
        lineage=_lineage(project.root, page),
        ids=_ids(project.manifest),
        keys=_keys(project.manifest, built),
        proved=Proofs(spark, project.ops_schema).share(_proved(project.manifest, built), now),
    )


def _keys(manifest: Any, built: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of the key of each built table that has one."""
    keys = {table_of(one): one.config.unique_key for one in _models(manifest)}
    return {
        table: (key,) if isinstance(key, str) else tuple(key)
        for table, key in sorted(keys.items())
        if key and table in built
    }


def _proved(manifest: Any, built: Collection[str]) -> list[str]:
    """Return the tables that `tidemark verify` compares."""
    tables = [table_of(one) for one in _models(manifest) if one.config.materialized not in VIEWS]
    return [table for table in tables if table in built]


def _landed(rows: list[Any]) -> tuple[dict[str, Any], tuple[Landing, ...]]:
    totals = {row["feed"]: row for row in rows if row["is_total"]}
    in_time = [row for row in rows if not row["is_total"] and row["period"] is not None]
    return totals, tuple(Landing(row["feed"], row["period"], row["rows"], row["files"]) for row in in_time)


def _feed(feed: DeclaredFeed, limits: Limits, total: Any) -> Feed:
    external: Any = feed.external
    kind = external.file_format if isinstance(feed, FileFeed) else external.connector
    if total is None:
        return Feed(feed.name, feed.table, kind, limits)
    lateness = None
    if total["measured"]:
        micros = (total["least"], *total["middle"], total["most"])
        lateness = Lateness(total["measured"], *(value / 1_000_000 for value in micros))
    return Feed(feed.name, feed.table, kind, limits, total["rows"], utc_time(total["newest"]), lateness)


def _models(manifest: Any) -> list[Any]:
    return [node for node in manifest.nodes.values() if node.resource_type == "model"]


def _ids(manifest: Any) -> dict[str, str]:
    """Return the unique id of each table's node or source."""
    return {table_of(node): node.unique_id for node in (*manifest.sources.values(), *stored(manifest))}


def _lineage(root: Path, page: Path) -> str | None:
    """Return the link from the page to the site with the lineage, if there is one."""
    for site in SITES:
        if (root / site).is_file():
            return Path(os.path.relpath(root / site, page.parent)).as_posix()
    return None
