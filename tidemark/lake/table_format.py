"""Operations that depend on the table format: Delta or Iceberg, as set in `spark.sql.sources.default`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from tidemark.base.archives import MEMBER
from tidemark.lake.delta_statements import log_of
from tidemark.lake.jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DELTA, ICEBERG = "delta", "iceberg"
TABLE_ID = "tidemark.table_id"  # SQL cannot query Iceberg's own id
APPENDED = "tidemark.appended"
CLUSTERED = "tidemark.clustered"  # by which columns an Iceberg table was clustered, and up to which commit


def table_format(spark: SparkSession) -> str:
    """Return `delta` or `iceberg`."""
    return str(spark.conf.get("spark.sql.sources.default"))


def table_exists(spark: SparkSession, table: str) -> bool:
    """Return whether the target's catalog has a table; Spark by itself also searches the session's."""
    return spark.catalog.tableExists(f"{spark.catalog.currentCatalog()}.{table}")


def iceberg_call(spark: SparkSession, procedure: str, table: str, *arguments: str) -> str:
    """Return the statement that calls one of Iceberg's procedures for a table.

    Args:
        spark: the session, whose current catalog has the table.
        procedure: the name, such as `rewrite_manifests`.
        table: `schema.name`.
        arguments: the other arguments, such as `retain_last => 1`.
    """
    given = ", ".join([f"table => '{table}'", *arguments])
    return f"call {spark.catalog.currentCatalog()}.system.{procedure}({given})"


def properties_of_new(spark: SparkSession) -> dict[str, str]:
    """Return the properties that every new table has."""
    if table_format(spark) == DELTA:
        return {}
    modes = {f"write.{what}.mode": "copy-on-write" for what in ("merge", "update", "delete")}
    return {"format-version": "2", TABLE_ID: str(uuid4()), **modes}


def append(rows: DataFrame, table: str) -> None:
    """Append rows in one commit."""
    rows.write.format(table_format(rows.sparkSession)).mode("append").saveAsTable(table)


def append_once(rows: DataFrame, table: str, writer: str, number: int) -> None:
    """Append rows in one commit, unless the table already has this append.

    Delta skips an append whose number is not above the writer's last one. For Iceberg, the snapshots are
    searched for the same writer and number; a writer makes one append at a time.

    Args:
        rows: with the table's columns.
        table: `schema.name`.
        writer: the owner of the numbers.
        number: grows from append to append.
    """
    spark = rows.sparkSession
    if table_format(spark) == DELTA:
        writing = rows.write.format(DELTA).option("txnAppId", writer).option("txnVersion", number)
        writing.mode("append").saveAsTable(table)
        return
    mark = f"{writer} {number}"
    if all(snapshot["summary"].get(APPENDED) != mark for snapshot in snapshots_of(spark, table)):
        writing = rows.write.format(ICEBERG).option(f"snapshot-property.{APPENDED}", mark)
        writing.mode("append").saveAsTable(table)


def refresh(spark: SparkSession, table: str) -> None:
    """Let a session see what another one has written: Iceberg caches tables in each session.

    Args:
        spark: the session that is to read the table.
        table: `schema.name`.
    """
    if table_format(spark) == ICEBERG:
        spark.catalog.refreshTable(table)


def snapshots_of(spark: SparkSession, table: str) -> list[Any]:
    """Return an Iceberg table's snapshots, newest first: the current one, its parent and so on.

    Snapshots that were rolled back or replaced are not included.

    Returns:
        Rows with `snapshot_id`, `parent_id`, `operation`, `summary`, and `at` in microseconds since 1970.
    """
    columns = ("snapshot_id", "parent_id", "operation", "summary", "unix_micros(committed_at) as at")
    found = {
        row["snapshot_id"]: row for row in spark.table(f"{table}.snapshots").selectExpr(*columns).collect()
    }
    present = spark.table(f"{table}.refs").where("name = 'main'").select("snapshot_id").first()
    version, line = present["snapshot_id"] if present else None, []
    while version in found:
        line.append(found[version])
        version = found[version]["parent_id"]
    return line


def loaded_iceberg(spark: SparkSession, table: str) -> Any:
    """Return an Iceberg table as Iceberg's own object, which reads snapshots without a Spark job."""
    name = f"{spark.catalog.currentCatalog()}.{table}"
    tables = java_class(spark, "org.apache.iceberg.spark.Spark3Util")
    loaded = tables.loadIcebergTable(spark._jsparkSession, name)
    loaded.refresh()
    return loaded


def iceberg_view(spark: SparkSession, view: str) -> str | None:
    """Return the query of a view in Iceberg's catalog, which Spark's functions for catalogs do not see.

    Args:
        spark: a session with a JVM.
        view: `schema.name`.

    Returns:
        None if there is no such view.
    """
    schema, _, name = view.partition(".")
    if not name:
        return None
    gateway: Any = spark.sparkContext._gateway
    folder = gateway.new_array(gateway.jvm.String, 1)
    folder[0] = schema
    identifier = java_class(spark, "org.apache.spark.sql.connector.catalog.Identifier").of(folder, name)
    try:
        catalog = spark._jsparkSession.sessionState().catalogManager().currentCatalog()
        return str(catalog.loadView(identifier).query())
    except (PySparkException, Py4JError):  # no such view, or a catalog without views
        return None


def replace_rows(rows: DataFrame, table: str, batch_id: int, paths: Sequence[str]) -> None:
    """Replace the rows of a batch that came from the given files, or all rows of the batch.

    On Delta this is one commit. Iceberg can only replace complete data files, so the old rows are deleted
    and then the new ones appended. If a landing is killed in between, the next landing detects the loss.

    Args:
        rows: with the table's columns.
        table: `schema.name`.
        batch_id: the value of `_batch_id`.
        paths: files, also archives whose members are in `_source_file`; empty for all.
    """
    spark = rows.sparkSession
    members = [f"{path}{MEMBER}" for path in paths if path.lower().endswith(".zip")]
    if table_format(spark) == DELTA:
        replaced = f.col("_batch_id") == f.lit(batch_id)
        if paths:
            of_files = f.col("_source_file").isin([*paths])
            for path in members:
                of_files |= f.startswith("_source_file", f.lit(path))
            replaced &= of_files
        rows.writeTo(table).overwrite(replaced)
        return
    listed = ", ".join(map(_text, paths))
    in_archives = "".join(f" or startswith(_source_file, {_text(path)})" for path in members)
    condition = f" and (_source_file in ({listed}){in_archives})" if paths else ""
    # a DELETE makes a snapshot even if it finds no row, so that no reader mistakes this for a plain append
    spark.sql(f"delete from {table} where _batch_id = {batch_id}{condition}")
    append(rows, table)


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def identity_of(spark: SparkSession, table: str) -> str:
    """Return the id of a table; another table with the same name has another id."""
    if table_format(spark) == DELTA:
        return log_of(spark, table).identity
    properties = spark.sql(f"show tblproperties {table}").where(f"key = '{TABLE_ID}'").first()
    return str(properties["value"]) if properties else ""


def location_of(spark: SparkSession, table: str) -> str:
    """Return the folder of a table."""
    if table_format(spark) == DELTA:
        detail: Any = spark.sql(f"describe detail {table}").first()
        return str(detail["location"])
    row: Any = spark.sql(f"describe table extended {table}").where("col_name = 'Location'").first()
    return str(row["data_type"])
