"""Write, audit, publish: a batch whose tests fail is never in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import latest_version
from tests.lakehouse.conftest import FixtureProject

pytestmark = [pytest.mark.R1, pytest.mark.R2]
AUDITED = ("--vars", "audit: true")
DECLARED = """
models:
  - name: summed
    columns:
      - name: id
        data_tests:
          - unique
          - in_range: {arguments: {at_least: 1}}
          - same_total: {arguments: {of: "source('input', 'readings_in')", value: id}}
      - name: name
        data_tests:
          - not_null
          - unique: {config: {where: "name != 'free'"}}
          - relationships: {arguments: {to: "source('input', 'labels_in')", field: label}}
          - accepted_values: {arguments: {values: [a]}, config: {severity: warn}}
"""
SUMMED = """
{{ config(unique_key='id') }}
select id, name from {{ changes(source('input', 'readings_in')) }}
"""
BELOW = "{{ config(unique_key='name') }} select name, count(*) as ids from {{ ref('summed') }} group by name"
ODD = "select * from {{ ref('summed') }} where id % 100 = 99"
PER_NAME = """
{{ config(incremental_strategy='insert_overwrite', partition_by='name', unique_key='id',
          meta={'audit': true}) }}
select name, id from {{ source('input', 'readings_in') }}
"""
DECLARED_PER_NAME = """
models:
  - name: per_name
    columns:
      - {name: id, data_tests: [unique, in_range: {arguments: {at_least: 1}}]}
"""


@pytest.fixture
def audited(cases: FixtureProject, tmp_path: Path) -> FixtureProject:
    models = cases.own_copy(tmp_path)
    for name, text in {"summed.sql": SUMMED, "below.sql": BELOW, "summed.yml": DECLARED}.items():
        (models / name).write_text(text)
    (models.parent / "tests" / "odd.sql").write_text(ODD)
    cases.create_source("readings_in", "id int, name string, unit string")
    cases.create_source("labels_in", "value int, label string")
    cases.spark.sql(f"insert into {cases.prefix}_bronze.labels_in values (1, 'a'), (2, 'b'), (3, 'free')")
    return cases


def insert(project: FixtureProject, rows: str) -> None:
    project.spark.sql(f"insert into {project.prefix}_bronze.readings_in values {rows}")


def build(project: FixtureProject, *options: str) -> tuple[dict[str, str], int]:
    """The messages of what failed, by name, and the number of skipped nodes."""
    built = project.dbt("build", "--select", "summed+", *options)
    return dict(built.failed), built.skipped


def last_audits(project: FixtureProject) -> list[Any]:
    runs = project.spark.table(f"{project.prefix}_ops.runs").orderBy("started_at", ascending=False)
    return [row.asDict() for row in runs.select("failed_audits").first()[0]]  # type: ignore[index]


@pytest.mark.core
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_batch_whose_tests_fail_is_never_in_the_table(audited: FixtureProject) -> None:
    """R1.4, R2.5: not the first batch, nor a later one; the next run reads the same rows again."""
    spark, table = audited.spark, audited.table("summed")
    batch = f"{audited.prefix}_audit.{audited.prefix}_silver_summed"
    insert(audited, "(1, 'a', 'kg'), (0, 'b', 'kg')")
    failed, skipped = build(audited, *AUDITED)
    assert list(failed) == ["summed"]
    assert "in_range_summed_1__id (1)" in failed["summed"]
    assert skipped > 0
    assert not spark.catalog.tableExists(table)
    assert spark.table(batch).count() == 2

    spark.sql(f"delete from {audited.prefix}_bronze.readings_in where id = 0")
    assert build(audited, *AUDITED) == ({}, 0)
    assert not spark.catalog.tableExists(batch)
    version, below = latest_version(spark, table), latest_version(spark, audited.table("below"))
    mark = audited.checkpoint("summed")

    insert(audited, "(2, 'a', 'kg'), (3, null, 'kg'), (4, 'z', 'kg'), (199, 'free', 'kg')")
    failed, _ = build(audited, *AUDITED)
    counts = {"not_null_summed_name": 1, "unique_summed_name": 1, "odd": 1}
    assert all(f"{name} ({number})" in failed["summed"] for name, number in counts.items())
    assert {row["test"]: row["failures"] for row in last_audits(audited)} == counts | {
        "relationships_summed_name__label__source_input_labels_in_": 1
    }
    assert {row["batch"] for row in last_audits(audited)} == {batch}
    assert spark.table(batch).groupBy("__tidemark_outcome").count().collect() == [("inserted", 4)]
    assert audited.rows("summed") == [(1, "a")]
    assert latest_version(spark, table) == version
    assert latest_version(spark, audited.table("below")) == below
    assert audited.checkpoint("summed") == mark

    spark.sql(f"insert into {audited.prefix}_bronze.labels_in values (4, 'z')")
    changes = "case id when 2 then 'b' when 3 then 'free' else name end"
    spark.sql(f"update {audited.prefix}_bronze.readings_in set name = {changes} where id in (2, 3)")
    spark.sql(f"update {audited.prefix}_bronze.readings_in set id = 5 where id = 199")
    assert build(audited, *AUDITED) == ({}, 0)
    assert audited.rows("summed") == [(1, "a"), (2, "b"), (3, "free"), (4, "z"), (5, "free")]
    assert not spark.catalog.tableExists(batch)
    assert build(audited, *AUDITED, "--full-refresh") == ({}, 0)


def test_partitions_are_audited_before_they_are_replaced(audited: FixtureProject) -> None:
    """R2.5: `unique` sees the other partitions, too; `meta.audit` needs no option; false switches it off."""
    (audited.folder / "models" / "per_name.sql").write_text(PER_NAME)
    (audited.folder / "models" / "per_name.yml").write_text(DECLARED_PER_NAME)
    insert(audited, "(1, 'a', 'kg'), (2, 'b', 'kg')")
    assert audited.run("per_name") == ""
    insert(audited, "(2, 'c', 'kg'), (3, 'a', 'kg')")
    message = audited.run("per_name")
    assert "unique_per_name_id (1)" in message
    assert "in_range" not in message
    assert audited.rows("per_name") == [("a", 1), ("b", 2)]
    switched_off = PER_NAME.replace("'audit': true", "'audit': false")
    (audited.folder / "models" / "per_name.sql").write_text(switched_off)
    assert audited.dbt("run", "--select", "per_name", *AUDITED).failed == []
    insert(audited, "(4, 'a', 'kg')")
    (audited.folder / "models" / "per_name.sql").write_text(
        PER_NAME.replace("'audit': true", "'audit': 'on'")
    )
    assert "audit is on. Set it to true or false." in audited.run("per_name")
