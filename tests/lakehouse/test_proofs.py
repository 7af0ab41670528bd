"""Proofs of models that were built with variables, beside models that cannot be proved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject
from tidemark.base.errors import UnprovenError
from tidemark.cli.explain import show_plans
from tidemark.cli.verdicts import show_verdicts
from tidemark.engine.explain import explain
from tidemark.engine.project.to_read import load_to_read
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R2]
PROVEN = "2 rows, 0 rows differ"
BUILT_WITH = "{factor: 3, has_full_amount: true, api_key: abc}"
MODEL = "{{{{ config(unique_key='id') }}}} select id, {} from {{{{ source('input', 'items') }}}}"
BROKEN = {
    "misspelt": "{{ amuont() }}",
    "unclosed": "{{ amount",
    "demanding": "{{ var('never_given') }} as x",
    "moved": "{{ source('input', 'gone') }}.x",
}
TESTS = """
models:
  - name: scaled
    columns: [{name: id, data_tests: [{unique: {config: {severity: maybe}}}, not_null]}]
"""


@pytest.fixture(scope="module")
def proofs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixtureProject]:
    """The project `proofs`, whose tables were built with variables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "proof")
        patch.setenv("DBT_PROFILES_DIR", str(ROOT))
        project = FixtureProject(spark, "proofs", "proof")
        models = project.own_copy(tmp_path_factory.mktemp("proofs"))
        (project.folder / "profiles.yml").symlink_to(ROOT / "profiles.yml")
        (models / "dropped.sql").write_text(MODEL.format("amount"))
        items = project.create_source("items", "id int, amount int")
        readings = project.create_source("readings", "sensor int, value double, weight double")
        spark.sql(f"insert into {items} values (1, 10), (2, 20)")
        spark.sql(f"insert into {readings} values (1, 0.1, 1), (1, 0.2, 2), (1, 0.7, 4), (2, 5, 3)")
        assert project.dbt("run", "--vars", BUILT_WITH).failed == []
        yield project
    os.chdir(ROOT)


@pytest.fixture(autouse=True)
def inside(proofs: FixtureProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(proofs.folder)


def messages_of(proofs: FixtureProject, *models: str, **given: object) -> dict[str, str]:
    """What `verify` says of models."""
    verdicts = verify(proofs.spark, models, given)
    return {verdict.table.removeprefix(f"{proofs.prefix}_silver."): verdict.message for verdict in verdicts}


def test_a_proof_has_the_variables_of_the_run(proofs: FixtureProject) -> None:
    """R1.5, R2.1: recorded values are used, a secret is asked for, and another value is no difference."""
    plans = {plan.table.rpartition(".")[2]: plan for plan in explain(proofs.spark, [])}
    assert plans["scaled"].idle
    assert plans["signed"].failed == (
        "built with variables whose values are not recorded: api_key; give them with --vars"
    )
    assert set(messages_of(proofs, "scaled", "discounted", "signed", api_key="abc").values()) == {PROVEN}
    found = messages_of(proofs, "scaled", "signed", "full_amounts", api_key="xyz", factor=5)
    other = "built with other values of {}; give them with --vars"
    assert found["scaled"] == other.format("factor")
    assert found["signed"] == other.format("api_key")
    assert found["full_amounts"] == PROVEN


def test_a_fault_in_one_proof_does_not_stop_the_others(
    proofs: FixtureProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """R1.5: each line names its problem, and the exit code is that of `not all compared`."""
    models: Path = proofs.folder / "models"
    for name, column in BROKEN.items():
        (models / f"{name}.sql").write_text(MODEL.format(column))
    (models / "tests.yml").write_text(TESTS)
    proofs.spark.sql(f"drop table {proofs.table('dropped')}")
    proofs.spark.sql(f"alter table {proofs.table('full_amounts')} add columns (note string)")
    sums = proofs.table("sums")
    proofs.spark.sql(f"update {sums} set total = total + 1.2e-16 where sensor = 1")
    project, broken = load_to_read({})
    assert [message.partition(":")[0] for message in broken.tests] == ["a test in models/tests.yml"]
    with pytest.raises(UnprovenError, match="No row differs, but 7 tables cannot be compared") as raised:
        show_verdicts(proofs.spark, [], project)
    assert raised.value.exit_code == 3
    assert "`dbt run --full-refresh --select full_amounts`" in str(raised.value)
    printed = capsys.readouterr().out
    for line in (
        "dropped not built yet",
        "misspelt does not compile: 'amuont' is undefined.",
        "unclosed does not compile: expected token 'end of print statement'",
        "demanding does not compile: Required var 'never_given' not found 0",
        "moved does not compile: the source input.gone is not found",
        "full_amounts 2 rows, 0 rows differ, but not compared: column note (only in the table)",
        f"scaled {PROVEN}",
        "sums 2 rows, 0 rows differ (1 row differs only in the last digits of sums of floating-point",
    ):
        assert line in " ".join(printed.split())
    with pytest.raises(UnprovenError, match="Cannot plan the next run of 5 tables"):
        show_plans(proofs.spark, [])
    printed = capsys.readouterr().out
    assert "Error" not in printed, "the heading of dbt's message says nothing"
