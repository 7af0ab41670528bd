"""Models whose queries are maintained in stages, in a lake: their tables, the record, undo, maintenance."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.strange import StrangeProject
from tidemark.cli.maintain import maintain_tables
from tidemark.cli.undo import undo_run
from tidemark.engine.decision import costs
from tidemark.engine.explain import explain
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import table_of
from tidemark.engine.verify.verify import verify
from tidemark.engine.writing import values
from tidemark.lake.retention import Kept
from tidemark.lake.stage_tables import stage_tables

pytestmark = [pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]
MODELS = {
    "top_products": "select product, sum(amount) as amount from @sales group by product "
    "order by amount desc, product limit 2",
    "levels": "select day, product, sum(amount) as amount, count(*) as sold from @sales "
    "group by rollup (day, product)",
    "days_by_sales": "select sold, count(*) as days from "
    "(select day, count(*) as sold from @sales group by day) as days group by sold",
    "unsold": "select id, product from @sales where product not in (select name from @names)",
    "shares": "select product, 100 * sum(amount) / count(*) as mean, "
    "rank() over (order by sum(amount)) as place from @sales group by product",
    "means": "select product, avg(cast(amount as decimal(9, 2))) as mean from @sales group by product "
    "having sum(amount) > 1",
    "places": "select id, product, row_number() over (partition by product order by amount, id) as place "
    "from @sales",
    "above": "select id, amount from @sales where amount > (select min(target) from @targets)",
}
CHANGES = (
    "insert into {sales} values (5, date '2025-01-03', 'c', 50), (6, date '2025-01-03', 'a', 1)",
    "merge into {sales} using (select 1 as one, 'b' as other) on id = one or product = other "
    "when matched and id = 1 then update set day = date '2025-01-04', amount = 70 when matched then delete",
    "insert into {targets} values (15)",
    "insert into {names} values ('c')",
    "insert into {names} values (null)",
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
    project.add_source("names", "name string")
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
    spark.sql(f"insert into {project.sources['names']} values ('b')")
    return project


def project_of(staged: StrangeProject) -> Project:
    """Return the project as commands of `tidemark` have it."""
    manifest = staged.manifest_of_copy()
    tables = [table_of(node) for node in manifest.nodes.values()]
    return Project(staged.folder, f"{staged.prefix}_ops", tables, manifest)


def reads(project: StrangeProject, model: str) -> str:
    """Return how the last run read the sources of a model that changed."""
    return next(one for one in project.last_run(model)["reads"] if "versions" in one).partition(" (")[2][:-1]


def test_each_run_equals_a_rebuild(staged: StrangeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2.2: new, changed and deleted rows; the first change makes the stages, the others go through them.

    Two touched values are too many to be listed in a condition here: the tables look them up.
    """
    monkeypatch.setattr(values, "LISTED", 1)
    assert all("inserted" in message for message in staged.messages(*MODELS).values())
    for change in CHANGES:
        staged.spark.sql(change.format(**staged.sources))
        staged.messages(*MODELS)
        assert staged.differing() == {}, change
        if change is CHANGES[1]:
            assert reads(staged, "days_by_sales") == "in 1 stage: folded, then folded"
            assert reads(staged, "levels").startswith("in 1 stage: folded, then read whole: rollup")
            assert reads(staged, "places") == "touched product"
            assert reads(staged, "means") == "in 1 stage: folded, then changed rows"
            assert reads(staged, "above") == "changed rows", "the stage is not asked for"
    assert reads(staged, "above").startswith("in 1 stage: made anew, then full")
    os.chdir(staged.folder)
    assert {one.table.partition(".")[2]: one.differing for one in verify(staged.spark, [])} == dict.fromkeys(
        MODELS, 0
    )


@pytest.mark.R4
def test_stages_go_with_their_model(staged: StrangeProject) -> None:
    """R4.4: undone with it, made anew after another writer, maintained with it, dropped without it."""
    for name in MODELS.keys() - {"levels"}:
        staged.remove_model(name)
    staged.messages("levels")
    for change in CHANGES[:2]:
        staged.spark.sql(change.format(**staged.sources))
        staged.messages("levels")
    os.chdir(staged.folder)
    project = project_of(staged)
    undo_run(staged.spark, project, "last")
    staged.messages("levels")
    assert reads(staged, "levels").startswith("in 1 stage: folded"), "the stage was set back with its model"
    assert staged.differing() == {}
    (stage,) = stage_tables(staged.spark, f"{staged.prefix}_silver")
    staged.spark.sql(f"delete from {stage}")
    staged.spark.sql(f"delete from {staged.sources['sales']} where id = 4")
    staged.messages("levels")
    assert reads(staged, "levels").startswith("in 1 stage: made anew")
    assert staged.differing() == {}
    maintain_tables(staged.spark, project, [], Kept(0, 0))
    assert [*stage_tables(staged.spark, f"{staged.prefix}_silver")] == [stage]
    staged.remove_model("levels")
    maintain_tables(staged.spark, project_of(staged), [], Kept(0, 0))
    assert stage_tables(staged.spark, f"{staged.prefix}_silver") == {}


def test_a_model_that_must_be_maintained(staged: StrangeProject) -> None:
    """R2.2: `always` refuses what needs all rows, `never` has no stages; other tables are not overwritten."""
    ranked = (
        "{{ config(unique_key='id', meta={'maintain': 'always'}) }} "
        "select id, rank() over (order by amount, id) as place from {{ source('strange', 'sales') }}"
    )
    (staged.models / "ranked.sql").write_text(ranked)
    assert "meta.maintain is always, but its query would be computed in full: a window" in staged.run(
        "ranked"
    )
    (staged.models / "ranked.sql").write_text(
        ranked.replace("always", "sometimes") + "{{ source('strange', 'sales') }}"
    )
    assert "meta.maintain is sometimes. Set it to auto or always or never" in staged.run("ranked")
    stages = f"{staged.prefix}_silver_stages"
    staged.spark.sql(f"create schema {stages}")
    staged.spark.sql(f"create table {stages}.levels__1 as select 1 as one")
    staged.messages("levels")
    staged.spark.sql(CHANGES[0].format(**staged.sources))
    assert "That is the name of a stage of its query" in staged.run("levels")
    assert staged.spark.table(f"{stages}.levels__1").count() == 1


def test_the_way_follows_what_runs_took(staged: StrangeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2.3: one increment is enough here, and any number of seconds too many; `never` has no increments."""
    for name, value in (("MEASURED_BYTES", 0), ("RUNS", 1), ("MORE", 0.0)):
        monkeypatch.setattr(costs, name, value)
    query = "select product, sum(amount) as amount from {{ source('strange', 'sales') }} group by product"
    for name, maintain in (("measured", "auto"), ("never", "never")):
        config = f"{{{{ config(unique_key='product', meta={{'maintain': '{maintain}'}}) }}}}"
        (staged.models / f"{name}.sql").write_text(f"{config} {query}")
    ways = []
    for change in ("", *CHANGES[:2]):
        if change:
            staged.spark.sql(change.format(**staged.sources))
        staged.messages("measured", "never")
        found = [staged.last_run(name)["reads"][0] for name in ("measured", "never")]
        ways.append([one.partition(" (")[2][:-1] for one in found])
    assert ways[1] == ["folded", "full: meta.maintain is never"]
    assert ways[2][0].startswith("full: its last increment took")
    staged.spark.sql(CHANGES[0].format(**staged.sources))
    os.chdir(staged.models.parent)
    (plan,) = explain(staged.spark, ["measured"])
    assert plan.cost is not None
    assert (len(plan.cost.usual.increments), plan.cost.usual.full is not None) == (1, True)
    assert (plan.cost.joined, plan.cost.in_full > 0) == (None, True)  # it is computed in full
    assert staged.rows("measured") == staged.rows("never")
