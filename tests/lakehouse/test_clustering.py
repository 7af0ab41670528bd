"""Clustering and clean-up of logs by `tidemark maintain`, on both formats."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT, latest_version
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import TidemarkError
from tidemark.cli.maintain import declared_clustering, maintain_tables, show_plan
from tidemark.engine.project import Project
from tidemark.lake.jvm import java_class
from tidemark.lake.retention import Kept, lacking
from tidemark.lake.table_format import location_of
from tidemark.maintain.clustering_by_format import clustering_of
from tidemark.maintain.log_cleanup import clean_log, old_files
from tidemark.maintain.maintenance import maintain

pytestmark = pytest.mark.R4
DECLARED = """
models:
  - name: guarded
    config: {meta: {cluster_by: [Amount, id]}}
  - name: totals
    config: {liquid_clustered_by: copies}
sources:
  - name: input
    schema: "{{ target.schema }}_bronze"
    tables: [{name: rows_in, config: {meta: {cluster_by: sent}}}]
"""


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_new_files_are_clustered_and_trigger_nothing(
    guarded: Guarded, table_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R4.4: by the columns that models and feeds declare; without new files, nothing is committed."""
    (guarded.own_copy(tmp_path) / "_guarded.yml").write_text(DECLARED)
    manifest = guarded.manifest_of_copy()
    tables = (guarded.input, guarded.table("guarded"))
    project = Project(ROOT, f"{guarded.prefix}_ops", tables, manifest)
    declared = {tables[0]: ["sent"], tables[1]: ["Amount", "id"], guarded.table("totals"): ["copies"]}
    assert declared_clustering(project) == declared
    guarded.insert("(1, 5), (2, 7)")
    guarded.insert("(3, 5)")
    guarded.messages("guarded", "totals")
    guarded.insert("(4, 5), (1, 8)")
    guarded.messages("guarded")
    rows = guarded.rows("guarded")
    show_plan(guarded.spark, project, [], Kept())
    planned = capsys.readouterr().out
    assert "new files (" in planned
    assert planned.count(" to cluster by amount, id") == 1
    maintain_tables(guarded.spark, project, [], Kept())
    assert "clustered by amount, id" in capsys.readouterr().out
    versions = [latest_version(guarded.spark, table) for table in tables]
    show_plan(guarded.spark, project, [], Kept())
    assert capsys.readouterr().out.count("nothing new to cluster by") == 2
    maintain_tables(guarded.spark, project, [], Kept())
    assert capsys.readouterr().out.count("no change") == 3, "the two tables and ops.runs"
    assert [latest_version(guarded.spark, table) for table in tables] == versions

    assert guarded.rows("guarded") == rows
    assert guarded.messages("guarded", "totals") == {"guarded": "no change", "totals": "1 inserted"}
    assert guarded.last_run("totals").state == "incremental", (
        "what was not read yet is read, and nothing else"
    )
    assert guarded.rows("totals") == [(5, 2), (7, 1), (8, 1)]
    guarded.insert("(6, 9)")
    guarded.messages("guarded", "totals")
    (new,) = (clustering_of(guarded.spark, tables[1], ["amount", "id"]).new_files(),)
    assert new.number == 1
    guarded.messages("guarded", options=("--full-refresh",))
    maintain(
        guarded.spark,
        tables[1],
        Kept(),
        guarded.readers(tables[1]),
        clustering_of(guarded.spark, tables[1], ["id"]),
    )
    assert clustering_of(guarded.spark, tables[1], ["id"]).new_files().number == 0, (
        "rebuilt, by other columns"
    )
    assert guarded.messages("guarded") == {"guarded": "no change"}


@pytest.mark.formats(day="delta", night="delta iceberg")
def test_only_partitions_with_new_files_are_rewritten(
    spark: SparkSession, prefix: str, table_format: str
) -> None:
    """R4.4: the files of the others stay, also beside NULL and quotes in the values of partitions."""
    spark.sql(f"create schema {prefix}")
    table = f"{prefix}.events"
    spark.sql(f"create table {table} (id int, day date, place string) partitioned by (day, place)")
    for start in (0, 10):
        spark.sql(
            f"insert into {table} select id, if(id % 3 = 0, null, date '2025-01-01'), "
            f"if(id % 2 = 0, 'O''Brien \\\\ \"x\"', 'b') from range({start}, {start + 10})"
        )
    clustering = clustering_of(spark, table, ["id"])
    before, after = clustering.rewrite(clustering.new_files())
    assert (before > after, after) == (True, 4)
    files = _files(spark, table)
    assert clustering_of(spark, table, ["id"]).new_files().number == 0
    spark.sql(
        f"insert into {table} values (30, null, 'O''Brien \\\\ \"x\"'), (32, null, 'O''Brien \\\\ \"x\"')"
    )
    new = clustering_of(spark, table, ["id"]).new_files()
    assert new.partitions is not None
    assert len(new.partitions) == 1
    before, after = clustering_of(spark, table, ["id"]).rewrite(new)
    assert (before > 1, after) == (True, 1)
    assert len(files - _files(spark, table)) == 1, "of three partitions, no file was touched"
    assert clustering_of(spark, table, ["id"]).new_files().number == 0
    assert spark.table(table).count() == 22
    for columns, message in (
        (["day"], r"names `day`, by which the table is partitioned already"),
        (["idd"], r"(?s)names `idd`, which is not one of its columns.*Did you mean 'id'"),
        (["id"] * 5, r"names 5 columns"),
    ):
        with pytest.raises(TidemarkError, match=message):
            clustering_of(spark, table, columns)


def _files(spark: SparkSession, table: str) -> set[str]:
    if spark.conf.get("spark.sql.sources.default") == "iceberg":
        return {row[0] for row in spark.table(f"{table}.files").select("file_path").collect()}
    return set(spark.table(table).inputFiles())


@pytest.mark.formats(day="delta", night="delta iceberg")
def test_a_log_is_cleaned_up_to_what_is_kept(spark: SparkSession, prefix: str, table_format: str) -> None:
    """R4.4: young versions can be read afterwards; a table of an earlier version gets its retention."""
    spark.sql(f"create schema {prefix}")
    table = f"{prefix}.kept"
    spark.sql(f"create table {table} (id int)")
    for number in range(13):
        spark.sql(f"insert into {table} values ({number})")
    folder = Path(location_of(spark, table).removeprefix("file:"))
    if table_format == "iceberg":
        for name in ("data/left.parquet", "metadata/left.metadata.json"):
            (folder / name).write_text("of a killed write")
    for file in (path for path in folder.rglob("*") if path.is_file()):
        number = file.name.lstrip(".").partition(".")[0]
        if table_format == "iceberg" or (number.isdigit() and int(number) <= 11):
            at = time.time() - 40 * 86_400 + (int(number) if number.isdigit() else 0)
            os.utime(file, (at, at))
    java_class(spark, "org.apache.spark.sql.delta.DeltaLog").clearCache()
    kept = latest_version(spark, table)
    assert old_files(spark, table, 50 * 24) == 0
    found = old_files(spark, table, 30 * 24)
    assert found >= 2
    assert lacking(spark, table)
    done = maintain(spark, table, Kept(24, 30 * 24), {})
    assert (done.log, done.is_set) == (found, True)
    assert (old_files(spark, table, 30 * 24), lacking(spark, table)) == (0, {})
    assert clean_log(spark, table, 30 * 24) == 0
    assert spark.sql(f"select count(*) from {table} version as of {kept}").collect()[0][0] == 13
    if table_format == "delta":
        left = [int(path.name.partition(".")[0]) for path in (folder / "_delta_log").glob("0*.json")]
        assert min(left) == 10, "the newest checkpoint that is old enough"
        assert spark.sql(f"select count(*) from {table} version as of 11").collect()[0][0] == 11


def test_what_is_no_list_of_columns_is_refused(guarded: Guarded, tmp_path: Path) -> None:
    """R4.4: the message names the file."""
    copy = guarded.own_copy(tmp_path)
    (copy / "_guarded.yml").write_text(DECLARED.replace("[Amount, id]", json.dumps({"by": "id"})))
    with pytest.raises(TidemarkError, match=r"(?s)cluster_by of guarded is .*guarded\.sql"):
        declared_clustering(Project(ROOT, "ops", (), guarded.manifest_of_copy()))
