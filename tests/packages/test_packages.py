"""Packages that many projects use, at night: models and tests written with them (docs/packages.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.night import nightly
from tests.packages.conftest import MakeProject
from tidemark.engine.incremental import row_by_row

pytestmark = [pytest.mark.R1, pytest.mark.R2, nightly("packages")]
IN_FULL = {"days", "all_ids", "numbers", "found_statuses"}
OF_ROWS = {  # tests that read the rows gained; each other one reads the whole table
    "dbt_utils": {
        *("accepted_range", "expression_is_true", "not_empty_string", "relationships_where"),
    },
    "dbt_expectations": {
        *("expect_column_values_to_be_between", "expect_column_values_to_be_in_set", "expression_is_true"),
        *("expect_column_values_to_not_be_in_set", "expect_column_values_to_not_be_null"),
        *("expect_column_values_to_match_regex", "expect_column_values_to_not_match_regex"),
        *("expect_column_values_to_match_like_pattern", "expect_column_value_lengths_to_be_between"),
        "expect_column_pair_values_A_to_be_greater_than_B",
    },
    None: {"not_null", "relationships"},
}
OF_COLUMNS = {  # these look at the names and types of columns only
    *("expect_column_to_exist", "expect_column_values_to_be_of_type", "expect_table_columns_to_match_set"),
}
OF_STATISTICS = {"recency", "not_accepted_values"}  # Delta's log has the highest date, and skips the file


@pytest.mark.formats(day="delta", night="delta iceberg")
def test_models_written_with_packages_equal_their_rebuild(with_packages: MakeProject) -> None:
    """R2.2: with dbt_utils and dbt_date; after changed rows, and after a column that a pivot finds."""
    project = with_packages()
    project.send_first()
    assert project.dbt("build").failed == []
    nothing = project.messages("run")
    assert {messages.partition(";")[0] for messages in nothing.values()} == {"no change"}
    project.send_more()
    messages = project.messages("build")
    assert project.dbt("run").failed == []
    models = {name: one for name, one in messages.items() if one.endswith(("ed", "`")) or "; " in one}
    assert {name for name, one in models.items() if "in full" in one or "read whole" in one} == IN_FULL
    assert messages["found_statuses"] == "5 inserted; read whole: its columns have changed: `new` is new"
    assert messages["keyed_orders"] == "2 inserted, 1 deleted"
    assert messages["long_orders"] == "3 inserted, 3 updated"
    proofs = project.proofs()
    assert len(proofs) == 13
    assert {name for name, one in proofs.items() if one[1] != 0} == set()


def test_tests_of_packages_cost_what_changed_where_their_query_allows_it(
    with_packages: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.3: a file of rows that were tested is unreadable: the tests that open it again stop."""
    monkeypatch.setattr(row_by_row, "FEW_BYTES", 0)
    project = with_packages()
    project.send_first()
    tested = ("--select", "orders", "customers")
    assert project.dbt("build", *tested).failed == []
    tested_files = project.spark.table(project.table("orders")).inputFiles()
    project.spark.sql(f"insert into {project.table('orders')} values (40, 1, 'sent', 7, date '2026-01-03')")
    for file in tested_files:
        Path(file.removeprefix("file:").replace("%20", " ")).write_bytes(b"unreadable")
    results = list(project.invoke("test", "--select", "orders").results)
    passed: dict[str | None, set[str]] = {}
    for one in results:
        if str(one.status) == "pass" and one.adapter_response.get("code") != "PASS":
            metadata = one.node.test_metadata
            passed.setdefault(metadata.namespace, set()).add(metadata.name)
    passed["dbt_expectations"] -= OF_COLUMNS
    passed["dbt_utils"] -= OF_STATISTICS
    assert passed == OF_ROWS
    assert len(results) > 35


def test_macros_that_write_or_compare(with_packages: MakeProject) -> None:
    """R1.4: codegen writes sources and models from the lake's tables; audit_helper compares relations."""
    project = with_packages()
    project.send_first()
    assert project.dbt("run", "--select", "orders", "customers").failed == []
    schema = f"{project.prefix}_silver"
    sources = project.call("codegen.generate_source", {"schema_name": schema, "generate_columns": True})
    assert all(
        text in sources for text in ("- name: customers", "- name: orders", "data_type: decimal(10,2)")
    )
    base = {"source_name": "input", "table_name": "orders_in", "materialized": "incremental"}
    assert "ordered_on" in project.call("codegen.generate_base_model", base)
    assert "data_type: int" in project.call("codegen.generate_model_yaml", {"model_names": ["orders"]})
    assert "unit_test_orders" in project.call("codegen.generate_unit_test_template", {"model_name": "orders"})
    sides = "ref('orders'), source('input', 'orders_in')"
    for query in (
        f"audit_helper.compare_relations({sides}, exclude_columns=['sent'], primary_key='order_id')",
        f"audit_helper.compare_all_columns({sides}, primary_key='order_id', exclude_columns=['sent'])",
        f"audit_helper.compare_which_relation_columns_differ({sides}, ['order_id'], ['order_id', 'amount'])",
        f"audit_helper.compare_row_counts({sides})",
        f"audit_helper.compare_relation_columns({sides})",
    ):
        shown = project.invoke("show", "--inline", "{{ " + query + " }}").results
        assert shown[0].agate_table.rows, query


def test_elementary_keeps_what_it_reads(with_packages: MakeProject) -> None:
    """R1.4: its tables of runs and tests are filled by each command; its own tests run each time."""
    project = with_packages("dbt_utils", "dbt_expectations", "dbt_date", "elementary")
    project.send_first()
    assert project.dbt("run", "--select", "elementary").failed == []
    tested = ("--select", "orders", "monitored_orders", "--indirect-selection", "cautious")
    for _ in range(2):
        assert project.dbt("build", *tested).failed == []
        project.send_more()
    schema = f"{project.prefix}_elementary"
    runs = project.spark.table(f"{schema}.dbt_run_results").where("name = 'orders'").collect()
    assert [(row["status"], row["resource_type"]) for row in runs] == [("success", "model")] * 2
    assert all(row["execution_time"] > 0 for row in runs)
    results = project.spark.table(f"{schema}.elementary_test_results").collect()
    kinds = {row["test_type"] for row in results}
    assert kinds == {"dbt_test", "anomaly_detection", "schema_change"}
    assert {row["test_short_name"] for row in results} >= {"volume_anomalies", "schema_changes", "not_null"}
    own = [row for row in results if row["test_short_name"] == "volume_anomalies"]
    assert len(own) == 2, "its metrics are kept by each command"


def test_the_evaluator_looks_at_the_graph(with_packages: MakeProject) -> None:
    """R1.4: dbt_project_evaluator builds its views and tables, and finds what this project lacks."""
    project = with_packages("dbt_utils", "dbt_expectations", "dbt_date", "dbt_project_evaluator")
    messages = project.messages("build", "--select", "package:dbt_project_evaluator")
    assert not [name for name, one in messages.items() if "rror" in one]
    undocumented = project.spark.table(f"{project.prefix}_evaluator.fct_undocumented_models").collect()
    assert "keyed_orders" in {row["resource_name"] for row in undocumented}
