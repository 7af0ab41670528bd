"""Make a snapshot of an Iceberg table that lists no removed file, and delete everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.lake.jvm import each, java_class
from tidemark.lake.table_format import iceberg_call, loaded_iceberg, location_of, snapshots_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATER = "timestamp '2999-01-01 00:00:00'"


def prepare_iceberg(spark: SparkSession, table: str) -> int:
    """Make the present snapshot's manifests list live files only; return its id, 0 if there is none.

    Manifests keep removed files, with the bounds of their columns, until they are rewritten. A single
    manifest is only rewritten together with its data files.
    """
    if removed_files(spark, table):
        spark.sql(iceberg_call(spark, "rewrite_manifests", table, "use_caching => false"))
    if removed_files(spark, table):
        spark.sql(iceberg_call(spark, "rewrite_data_files", table, "options => map('rewrite-all', 'true')"))
        spark.sql(iceberg_call(spark, "rewrite_manifests", table, "use_caching => false"))
    line = snapshots_of(spark, table)
    return int(line[0]["snapshot_id"]) if line else 0


def purge_iceberg(spark: SparkSession, table: str) -> int:
    """Expire all snapshots but the present one, and delete all files that it does not need.

    Returns:
        The number of files that were deleted besides those of expired snapshots.
    """
    spark.sql(iceberg_call(spark, "expire_snapshots", table, f"older_than => {LATER}", "retain_last => 1"))
    needed = _needed(spark, table)
    place = java_class(spark, "org.apache.hadoop.fs.Path")(location_of(spark, table))
    session: Any = spark._jsparkSession
    system = place.getFileSystem(session.sessionState().newHadoopConf())
    paths = [file.getPath() for file in each(system.listFiles(place, True))]
    unneeded = [path for path in paths if path.toUri().getPath() not in needed]
    for path in unneeded:
        system.delete(path, False)
    return len(unneeded)


def _needed(spark: SparkSession, table: str) -> set[str]:
    """Return the paths of the files that the present snapshot needs, without the scheme."""
    queries = (
        f"select manifest_list as path from {table}.snapshots",
        f"select path from {table}.manifests",
        f"select file_path as path from {table}.files",
    )
    found = [row["path"] for query in queries for row in spark.sql(query).collect()]
    found.append(loaded_iceberg(spark, table).operations().current().metadataFileLocation())
    uri = java_class(spark, "org.apache.hadoop.fs.Path")
    return {uri(path).toUri().getPath() for path in found}


def removed_files(spark: SparkSession, table: str) -> int:
    """Return how many removed files the present manifests still list."""
    row: Any = spark.sql(f"select sum(deleted_data_files_count) as number from {table}.manifests").first()
    return int(row["number"] or 0)
