"""The peers: five ways to build the same three tables from the same landed orders."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import plain_job
from benchmarks.measuring import LAKE, ROOT, BenchmarkProject, Run, cost_of, table_versions
from benchmarks.truth import TABLES
from tidemark.spark.settings import embedded_settings

TIDEMARK, STOCK, FULL, PLAIN, DUCKDB = "tidemark", "stock", "full", "plain", "duckdb"
TITLES = {
    TIDEMARK: "Tidemark",
    STOCK: "stock dbt-spark",
    FULL: "full refresh",
    PLAIN: "plain PySpark",
    DUCKDB: "dbt-duckdb",
}
MEANINGS = {
    TIDEMARK: "`benchmarks/tidemark`: `dbt build` with Tidemark's adapter",
    STOCK: "`benchmarks/stock`: `dbt build` of `incremental` models with a watermark, as dbt's docs teach",
    FULL: "the same project, each time `dbt build --full-refresh`",
    PLAIN: "`benchmarks/plain_job.py`: a watermark, a MERGE into silver, gold computed anew; ends early if "
    "nothing is new; has no tests",
    DUCKDB: "the models of `benchmarks/stock` by DuckDB in the same process, from the same parquet files, "
    "into a DuckDB file instead of Delta; strategy `delete+insert`",
}
BUILD = ("build", "--exclude-resource-type", "unit_test")


@dataclass
class Peer:
    """A peer at one scale.

    Attributes:
        name: one of TITLES.
        spark: the warm session, which also compares the tables.
        prefix: the prefix of its schemas.
        load: builds all tables for the first time.
        build: builds them after an increment.
        publish: makes tables that are not Spark's readable there.
    """

    name: str
    spark: SparkSession
    prefix: str
    load: Callable[[], Run]
    build: Callable[[], Run]
    publish: Callable[[], object] = field(default=lambda: None)

    def versions(self) -> dict[str, int]:
        """Return the version of each Delta table; DuckDB has none."""
        return {} if self.name == DUCKDB else table_versions(self.spark, self.prefix)


def peer(spark: SparkSession, name: str, scale: str, bronze: str) -> Peer:
    """Return a peer with its own schemas.

    Args:
        spark: the warm session.
        name: one of TITLES.
        scale: the prefix of all peers' schemas.
        bronze: the Delta table of landed orders, to which rows are only appended.
    """
    prefix = f"{scale}_{name}"
    if name == PLAIN:
        job = partial(plain_job.run, spark, bronze, f"{prefix}_silver", f"{prefix}_gold")
        return Peer(name, spark, prefix, partial(cost_of, spark, job), partial(cost_of, spark, job))
    publish: Callable[[], object] = lambda: None  # noqa: E731
    target, files = None, ""
    if name == DUCKDB:
        files = spark.sql(f"describe detail {bronze}").collect()[0]["location"].removeprefix("file:")
        target = _duckdb_target(prefix)
        publish = partial(_publish, spark, prefix)
    elif name != TIDEMARK:
        target = _spark_target(prefix)
    project = BenchmarkProject(
        spark=spark,
        root=ROOT,
        name=TIDEMARK if name == TIDEMARK else STOCK,
        prefix=prefix,
        bronze=bronze.split(".", maxsplit=1)[0],
        scratch=LAKE,
        target=target,
        variables={"files": files},
    )
    load = partial(project.dbt, *BUILD, "--full-refresh")
    return Peer(name, spark, prefix, load, load if name == FULL else partial(project.dbt, *BUILD), publish)


def _spark_target(schema: str) -> dict[str, Any]:
    target = {"type": "spark", "method": "session", "host": "localhost", "threads": 2, "schema": schema}
    return target | {"server_side_parameters": embedded_settings("delta")}


def _duckdb_target(schema: str) -> dict[str, Any]:
    """Return a target with as much memory and as many threads as Spark has."""
    settings = {"memory_limit": f"{os.environ['TIDEMARK_DRIVER_MEMORY']}b", "threads": os.cpu_count()}
    path = LAKE / f"{schema}.duckdb"
    return {"type": "duckdb", "path": str(path), "schema": schema, "threads": 2, "settings": settings}


def _publish(spark: SparkSession, prefix: str) -> None:
    """Copy DuckDB's tables to parquet files, and declare these as Spark's tables of the same names."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    folder = Path(LAKE) / f"{prefix}_published"
    folder.mkdir(exist_ok=True)
    cursor = DuckDBConnectionManager.env().handle().cursor()
    for table in TABLES:
        name, file = f"{prefix}_{table}", folder / f"{table}.parquet"
        cursor.execute(f"copy (from {name}) to '{file}' (format parquet)")
        spark.sql(f"create schema if not exists {name.split('.', maxsplit=1)[0]}")
        spark.sql(f"drop table if exists {name}")
        spark.sql(f"create table {name} using parquet location '{file}'")
    cursor.close()
