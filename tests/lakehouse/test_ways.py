"""Models that stock dbt would run, that keep rows or have no key; samples; tables of other writers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject
from tidemark.engine.explain import explain
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R2]
SAMPLE = ("--sample", "{'start': '2020-01-02', 'end': '2020-01-03'}")
LATER = "id,amount,day\n2,20,2020-01-02 09:00:00\n3,31,2021-01-03 10:00:00\n4,40,2020-01-04 10:00:00\n"


@pytest.fixture
def ways(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FixtureProject:
    """A copy of the project `ways`, in which commands of `tidemark` work."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    project = FixtureProject(spark, "ways", prefix)
    project.own_copy(tmp_path)
    (project.folder / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    return project


def results(project: FixtureProject, *arguments: str) -> dict[str, str]:
    """Run a command; return what each node says, which is the message of the error of one that fails."""
    outcome = project.invoke(*arguments).results
    return {result.node.name: (result.message or "").split("; not proven")[0] for result in outcome}


def written(messages: Mapping[str, str]) -> dict[str, str]:
    """What nodes wrote, without the reason for a full computation."""
    return {name: message.split("; in full")[0] for name, message in messages.items()}


def proofs(project: FixtureProject, *models: str) -> dict[str, Any]:
    """Return the rows, differing rows and kept rows of `verify`; nothing for what it cannot compare."""
    os.chdir(project.folder)
    found = {one.table.partition(".")[2]: one for one in verify(project.spark, models)}
    return {
        name: None if one.unproven else (one.rows, one.differing, one.kept) for name, one in found.items()
    }


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_each_model_is_written_in_its_own_way(ways: FixtureProject) -> None:
    """R2.2: sampled first, then whole, then over a source that has lost a row and got one."""
    seeded = results(ways, "seed")
    assert [*seeded] == ["days", "ways-on-run-end-0"], "only what the project has"
    kinds = ("whole", "by_amount", "unkeyed", "kept", "history", "appended", "updated_in_part", "logbook")
    sampled = results(ways, "build", "--select", *kinds, *SAMPLE)
    part = "1 inserted; a part of the rows: --sample"
    assert sampled["whole"] == sampled["unkeyed"] == part
    assert results(ways, "run", "--select", "whole", *SAMPLE)["whole"] == part, "it is replaced"
    assert ways.rows("whole") == [(2, 20)]
    first = written(results(ways, "run", "--select", *kinds))
    assert (first["whole"], first["by_amount"], first["unkeyed"]) == 3 * ("2 inserted",)
    assert ways.rows("whole") == ways.rows("kept") == ways.rows("history") == [(1, 10), (2, 20), (3, 30)]
    (ways.folder / "seeds" / "days.csv").write_text(LATER)
    later = written(results(ways, "build", "--select", "days", *kinds))
    assert later["whole"] == "1 inserted, 1 updated, 1 deleted"
    assert later["kept"] == later["history"] == "1 inserted, 1 updated"
    assert ways.rows("whole") == [(2, 20), (3, 31), (4, 40)]
    assert ways.rows("kept") == ways.rows("history") == [(1, 10), *ways.rows("whole")]
    assert ways.rows("by_amount") == [(20, 1), (31, 1), (40, 1)]
    assert ways.rows("unkeyed") == [(0, 20), (0, 31), (0, 40)]
    assert ways.rows("appended") == [(2, 20), (3, 30), (4, 40)], "after the sample, as its SQL says"
    days = [row[2].year for row in ways.rows("updated_in_part")]
    assert days == [2020, 2020, 2020, 2020], "merge_update_columns leaves the day as it was"
    assert len(ways.rows("invocations")) == 3, "each run of the package adds its row"
    assert proofs(ways, "kept", "unkeyed", "appended") == {
        "kept": (4, 0, 1),
        "unkeyed": (3, 0, 0),
        "appended": None,
    }
    unproven = {plan.table.partition(".")[2]: plan.unproven for plan in explain(ways.spark, ["appended"])}
    assert unproven == {"appended": "incremental_strategy append adds the rows of each run"}


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_rows_of_other_writers_stay(ways: FixtureProject) -> None:
    """R1.5: a run that would delete them stops; a sample is not written over a complete table."""
    results(ways, "seed")
    results(ways, "run", "--exclude", "logbook")
    assert len(ways.rows("run_log")) == len(ways.rows("kept_log")) == 1, "the project's hook wrote them"
    for values in ("whole values (77, 77)", "kept values (77, 77)", "unkeyed values (0, 77), (0, 77)"):
        ways.spark.sql(f"insert into {ways.table(values.split()[0])} {values.partition(' ')[2]}")
    ways.spark.sql(f"update {ways.table('history')} set amount = 99 where id = 1")
    before = {name: ways.rows(name) for name in ("whole", "kept", "unkeyed")}
    messages = results(ways, "run", "--exclude", "logbook")
    assert "1 row of the table would be deleted" in messages["whole"]
    assert 'for example {"id":77}' in messages["whole"]
    assert "2 rows of the table would be deleted" in messages["unkeyed"]
    assert "1 row of the table would be deleted" in messages["run_log"]
    assert "accumulates: true" in messages["whole"]
    assert "--full-refresh --select whole" in messages["whole"]
    assert before == {name: ways.rows(name) for name in before}
    assert messages["history"].startswith("1 updated"), "no row would be lost: it is healed"
    assert len(ways.rows("kept_log")) == len(ways.rows("run_log")) == 2
    sampled = results(ways, "run", "--select", "whole", "kept", "by_amount", *SAMPLE)
    refused = "`--sample` would put a part of the rows in the place of a complete table"
    assert all(refused in sampled[name] for name in ("whole", "kept", "by_amount"))
    assert before["whole"] == ways.rows("whole")
    rebuilt = results(ways, "run", "--full-refresh", "--select", "whole", "history", "unkeyed")
    assert (rebuilt["whole"], rebuilt["history"]) == ("3 inserted", "no change")
    ways.spark.sql(f"drop table {ways.table('by_amount')}")
    ways.spark.sql(f"create table {ways.table('by_amount')} as select 5 as amount, bigint(1) as days")
    assert '{"amount":5}' in results(ways, "run", "--select", "by_amount")["by_amount"]


def test_stored_failures_are_those_of_dbt(ways: FixtureProject) -> None:
    """R1.4: with dbt's columns; a test that passes leaves an empty table."""
    results(ways, "seed")
    results(ways, "build", "--select", "unkeyed", "whole")
    results(ways, "test", "--store-failures", "--select", "unkeyed", "whole")
    stored = [
        ways.spark.table(f"{ways.prefix}_dbt_test__audit.{name}")
        for name in ("unique_unkeyed_zero", "accepted_values_whole_amount__False__10__20__30")
    ]
    assert [(one.columns, one.collect()) for one in stored] == [
        (["unique_field", "n_records"], [(0, 3)]),
        (["value_field", "n_records"], []),
    ]


def test_a_command_has_only_its_own_results(ways: FixtureProject) -> None:
    """R1.5: in dbt's artifacts, too; and the run is recorded although a hook of the project fails."""
    (ways.folder / "macros" / "log_run.sql").write_text(
        "{% macro log_run() %}{% do exceptions.raise_compiler_error('the hook fails') %}{% endmacro %}"
    )
    for command in (("seed",), ("run", "--select", "whole")):
        arguments = ["--log-level", "none", *command, "--project-dir", str(ways.folder), "--target-path"]
        outcome = dbtRunner().invoke([*arguments, str(ways.folder / "target")])
        os.chdir(ROOT)
        assert outcome.success is (command == ("seed",))
    written = json.loads((ways.folder / "target" / "run_results.json").read_text())
    assert [one["unique_id"] for one in written["results"]] == ["model.ways.whole"]
    assert ways.checkpoint("whole") is not None
