"""Models whose queries are maintained in stages, in a lake: their tables, the record, undo, maintenance."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.strange import StrangeProject
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R2, pytest.mark.formats(day="delta", night="delta iceberg")]
MODELS = {
    "top_products": "select product, sum(amount) as amount from @sales group by product "
    "order by amount desc, product limit 2",
    "levels": "select day, product, sum(amount) as amount, count(*) as sold from @sales "
    "group by rollup (day, product)",
    "days_by_sales": "select sold, count(*) as days from "
    "(select day, count(*) as sold from @sales group by day) as days group by sold",
    "above": "select id, amount from @sales where amount > (select min(target) from @targets)",
}
CHANGES = (
    "insert into {sales} values (5, date '2025-01-03', 'c', 50), (6, date '2025-01-03', 'a', 1)",
    "update {sales} set day = date '2025-01-04', amount = 70 where id = 1",
    "delete from {sales} where product = 'b'",
    "insert into {targets} values (15)",
)


@pytest.fixture
def staged(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> StrangeProject:
    """A project of models that have stages, over two tables."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    project = StrangeProject(spark, prefix, tmp_path)
    (project.folder / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    project.add_source("sales", "id int, day date, product string, amount int")
    project.add_source("targets", "target int")
    for name, sql in MODELS.items():
        project.add_model(name, sql)
        text = (project.models / f"{name}.sql").read_text().partition("\n")[2]
        config = "{{ config(meta={'maintain': 'always'}) }}"
        (project.models / f"{name}.sql").write_text(f"{config}\n{text}")
    spark.sql(
        f"insert into {project.sources['sales']} values (1, date '2025-01-01', 'a', 10), "
        "(2, date '2025-01-01', 'b', 20), (3, date '2025-01-02', 'b', 30), (4, date '2025-01-02', 'c', 5)"
    )
    spark.sql(f"insert into {project.sources['targets']} values (30), (20)")
    return project


def test_each_run_equals_a_rebuild(staged: StrangeProject) -> None:
    """R2.2: new, changed and deleted rows; the second change goes through the stages of the first."""
    assert all("inserted" in message for message in staged.messages(*MODELS).values())
    for change in CHANGES:
        staged.spark.sql(change.format(**staged.sources))
        print(staged.messages(*MODELS))
        for m in MODELS: print(staged.last_run(m).asDict()['reads'])
        assert staged.differing() == {}, change
    os.chdir(staged.folder)
    assert {one.table.partition(".")[2]: one.differing for one in verify(staged.spark, [])} == dict.fromkeys(
        MODELS, 0
    )
