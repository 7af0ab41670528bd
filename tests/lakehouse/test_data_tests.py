"""Data tests cost what changed, and are as sure as tests of the whole table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject, Guarded
from tidemark.engine.incremental import row_by_row
from tidemark.engine.project import Project
from tidemark.operate.status.runs import last_run

pytestmark = [pytest.mark.R1, pytest.mark.R2]
COLUMNS = "id int, name string, unit string"
SUMMED = """
models:
  - name: summed
    columns:
      - name: id
        data_tests:
          - in_range: {arguments: {at_least: 1}}
          - same_total: {arguments: {of: "source('input', 'readings_in')", value: id}}
      - {name: name, data_tests: [not_null]}
"""
CHECKED = """
models:
  - name: checked
    data_tests:
      - holds: {arguments: {expression: id > 0}}
      - not_repeated: {arguments: {columns: [id, name]}}
"""
OF_A_PACKAGE = """
{% test holds(model, expression) %}
    with rows as (select * from {{ model }}), failing as (select * from rows where not ({{ expression }}))
    select * from failing
{% endtest %}
{% test not_repeated(model, columns) %}
    select {{ columns | join(', ') }} from {{ model }} group by {{ columns | join(', ') }} having count(*) > 1
{% endtest %}
"""
WHOLE = ("--vars", "full_tests: true")


@pytest.mark.core
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_failed_test_fails_until_its_rows_are_corrected(cases: FixtureProject) -> None:
    """R1.4: a run without new rows does not make it pass; unique checks new keys against the whole table."""
    source = cases.create_source("readings_in", COLUMNS)
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (2, 'b', 'kg')")
    assert cases.dbt("build", "--select", "tested").failed == []
    cases.spark.sql(f"insert into {cases.table('tested')} values (1, 'again')")
    cases.spark.sql(f"insert into {cases.table('tested')} values (3, null)")
    for _ in range(2):
        failed = {name for name, _ in cases.dbt("test", "--select", "tested").failed}
        assert failed == {"unique_tested_id", "not_null_tested_name"}
        run = last_run(cases.spark, Project(ROOT, f"{cases.prefix}_ops"))
        assert run is not None
        assert set(run.failed_tests) == failed
    built = cases.dbt("build", "--full-refresh", "--select", "tested")
    assert (built.failed, built.passed) == ([], 3)


def test_only_what_the_table_gained_is_read(cases: FixtureProject) -> None:
    """R2.3: rows that were tested are not opened again, unless all are asked for."""
    source = cases.create_source("readings_in", COLUMNS)
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg')")
    assert cases.dbt("build", "--select", "tested").failed == []
    (old,) = cases.spark.table(cases.table("tested")).inputFiles()
    cases.spark.sql(f"insert into {cases.table('tested')} values (2, 'b')")
    Path(old.removeprefix("file:").replace("%20", " ")).write_bytes(b"unreadable")
    test = ("test", "--select", "accepted_values_tested_name__a__b__again")
    assert cases.dbt(*test).failed == []
    assert cases.dbt(*test).failed == []
    assert cases.dbt(*test, *WHOLE).failed != []


def test_tests_of_packages_that_look_at_rows_read_only_those_gained(
    cases: FixtureProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.3: recognized by their query. A test that compares rows reads the whole table."""
    monkeypatch.setattr(row_by_row, "FEW_BYTES", 0)
    models = cases.own_copy(tmp_path)
    shutil.copy(models / "tested.sql", models / "checked.sql")
    (models / "checked.yml").write_text(CHECKED)
    (models.parent / "tests" / "generic").mkdir()
    (models.parent / "tests" / "generic" / "checks.sql").write_text(OF_A_PACKAGE)
    source = cases.create_source("readings_in", COLUMNS)
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg')")
    assert cases.dbt("build", "--select", "checked").failed == []
    (old,) = cases.spark.table(cases.table("checked")).inputFiles()
    kept = Path(old.removeprefix("file:").replace("%20", " "))
    content = kept.read_bytes()
    cases.spark.sql(f"insert into {cases.table('checked')} values (2, 'b')")
    kept.write_bytes(b"unreadable")
    tested = cases.invoke("test", "--select", "checked").results
    results = {one.node.test_metadata.name: str(one.status) for one in tested}
    assert results == {"holds": "pass", "not_repeated": "error"}
    kept.write_bytes(content)
    cases.spark.sql(f"insert into {cases.table('checked')} values (-3, 'c')")
    assert [name for name, _ in cases.dbt("test", "--select", "checked").failed] == ["holds_checked_id_0"]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_tests_run_no_statement_where_their_outcome_is_known(cases: FixtureProject) -> None:
    """R2.3: by the run's own write, or by a query for several; not after somebody else's write."""
    source = cases.create_source("readings_in", COLUMNS)
    known = {
        "unique_tested_id": "written once a key",
        "not_null_tested_name": "seen with others",
        "accepted_values_tested_name__a__b__again": "seen with others",
    }
    for row in ("(1, 'a', 'kg')", "(2, 'b', 'kg')"):
        cases.spark.sql(f"insert into {source} values {row}")
        assert why_tests_passed(cases, "build") == known
    assert why_tests_passed(cases, "test") == dict.fromkeys(known, "unchanged since it passed")
    assert why_tests_passed(cases, "test", *WHOLE) == known | {"unique_tested_id": ""}
    cases.spark.sql(f"insert into {cases.table('tested')} values (3, 'a')")
    assert why_tests_passed(cases, "test") == known | {"unique_tested_id": ""}
    cases.spark.sql(f"insert into {cases.table('tested')} values (4, 'z')")
    failed = [name for name, _ in cases.dbt("test", "--select", "tested").failed]
    assert failed == ["accepted_values_tested_name__a__b__again"]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_rows_and_totals_of_a_table_share_a_query_and_fail_apart(
    cases: FixtureProject, tmp_path: Path
) -> None:
    """R1.4: a total that is wrong fails, and the tests of the rows beside it pass."""
    models = cases.own_copy(tmp_path)
    shutil.copy(models / "tested.sql", models / "summed.sql")
    (models / "summed.yml").write_text(SUMMED)
    source = cases.create_source("readings_in", COLUMNS)
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (2, 'b', 'kg')")
    known = dict.fromkeys(("in_range_summed_1__id", "not_null_summed_name"), "seen with others")
    total = {"same_total_summed_id__source_input_readings_in___id": "seen with others"}
    for command in ("build", "test"):
        assert why_tests_passed(cases, command, *WHOLE, model="summed") == known | total
    cases.spark.sql(f"insert into {cases.table('summed')} values (3, 'a')")
    assert why_tests_passed(cases, "test", model="summed") == known


def test_a_constraint_of_the_table_is_its_not_null_test(guarded: Guarded, tmp_path: Path) -> None:
    """R2.3: Delta holds it at each commit; without it the test looks at the rows."""
    models = guarded.own_copy(tmp_path)
    declared = models / "_guarded.yml"
    tested = "      - name: id\n        data_tests: [not_null]\n"
    declared.write_text(declared.read_text().replace("      - name: id\n", tested))
    guarded.insert("(1, 5)")
    assert why_tests_passed(guarded, "build", model="guarded") == {
        "not_null_guarded_id": "a constraint of the table"
    }
    guarded.spark.sql(f"alter table {guarded.table('guarded')} drop constraint id_not_null")
    guarded.spark.sql(f"insert into {guarded.table('guarded')} values (null, 7)")
    assert [name for name, _ in guarded.dbt("test", "--select", "guarded").failed] == ["not_null_guarded_id"]


def why_tests_passed(project: FixtureProject, *command: str, model: str = "tested") -> dict[str, str]:
    """Run a command; return why its tests passed without a statement, or that they ran one."""
    results = project.invoke(*command, "--select", model).results
    passed = [result for result in results if str(result.status) == "pass"]
    return {
        result.node.name: response.get("_message", "") if response.get("code") == "PASS" else ""
        for result in passed
        for response in [result.adapter_response]
    }


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_failures_that_are_let_pass_are_counted_again(cases: FixtureProject) -> None:
    """R1.4: a threshold is one for the whole table, not for each run; and `where` goes with unique."""
    source = cases.create_source(
        "customers_in", "customer_id int, email string, name string, processed_time timestamp"
    )
    row = "insert into {} values ({}, '{}', {}, timestamp '2024-03-01 10:00')"
    cases.spark.sql(row.format(source, 1, "a", "null"))
    assert cases.dbt("build", "--select", "customers").failed == []
    cases.spark.sql(row.format(source, 1, "old", "'x'"))
    assert cases.dbt("build", "--select", "customers").failed == []
    cases.spark.sql(row.format(source, 1, "b", "null"))
    failed = {name for name, _ in cases.dbt("build", "--select", "customers").failed}
    assert failed == {"unique_customers_customer_id", "not_null_customers_name"}


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_rows_of_an_untested_run_are_tested_later(cases: FixtureProject) -> None:
    """R1.4: a later run that prunes to other values does not make it look tested."""
    source = cases.create_source("visits_in", "visit_id string, visit_day date, page string")
    first = "('20250101-1', date '2025-01-01', 'home'), ('20250102-1', date '2025-01-02', 'home')"
    cases.spark.sql(f"insert into {source} values {first}")
    assert cases.dbt("build", "--select", "visits").failed == []
    cases.spark.sql(f"insert into {source} values ('20250101-2', date '2025-01-01', 'home')")
    cases.messages("visits")
    cases.spark.sql(f"insert into {source} values ('20250102-1', date '2025-01-02', 'home')")
    assert [name for name, _ in cases.dbt("build", "--select", "visits").failed] == [
        "unique_key_visits_visit_day__page"
    ]


@pytest.mark.formats(day="delta", night="delta iceberg")
def test_a_landed_row_without_an_outcome_is_found(cases: FixtureProject) -> None:
    """R1.4: read = accounted for, on the first run and later; the record says what became of each row."""
    source = cases.create_source("readings_in", COLUMNS)
    lossy = ("build", "--select", "lossy", "rejected_lossy")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (1, 'b', 'kg'), (2, null, 'kg')")
    assert cases.dbt(*lossy).failed == []
    assert outcomes(cases.last_run("lossy")) == (3, 1, 0, 1, 1)
    cases.spark.sql(
        f"insert into {source} values (1, 'c', 'kg'), (3, 'd', 'kg'), (4, null, 'kg'), (3, 'd', 'kg')"
    )
    assert cases.dbt(*lossy).failed == []
    assert outcomes(cases.last_run("lossy")) == (4, 1, 1, 1, 1)
    cases.spark.sql(f"insert into {source} values (5, 'e', null)")
    assert [name for name, _ in cases.dbt(*lossy).failed] == ["lossy_row_balance"]
    assert [name for name, _ in cases.dbt(*lossy, "--full-refresh").failed] == ["lossy_row_balance"]


def outcomes(run: Any) -> tuple[int, ...]:
    """Rows read, and what they came to."""
    return run.rows_read, run.rows_inserted, run.rows_updated, run.rows_superseded, run.rows_rejected
