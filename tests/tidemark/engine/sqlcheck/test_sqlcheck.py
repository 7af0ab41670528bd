"""Static checks: what is refused, on which line, and what is let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.sqlcheck.finding import Table
from tidemark.engine.sqlcheck.models import findings, findings_of
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER, parsed
from tidemark.engine.sqlcheck.text_order import text_that_orders

pytestmark = [pytest.mark.R2, pytest.mark.core]
TABLES = {
    "bronze.orders": Table((LANDING_ORDER,), frozenset({"order_id", "updated_at", "status"})),
    "orders": Table(("order_id",), texts=frozenset({"changed_on"})),
}
CHANGED = "select * from {{ changes(ref('orders')) }}"


def rules(sql: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in findings(sql, TABLES)]


REFUSED = {
    "aggregate of changes": (
        f"with changed as (\n{CHANGED}\n)\nselect day, sum(amount)\nfrom changed\ngroup by day",
        [("aggregate_of_changes", 4)],
    ),
    "aggregate through a staging macro": (
        "with staged as (\n{{ staged_orders(changes(source('bronze', 'orders'))) }}\n)\n"
        "select max(amount) as amount from staged",
        [("aggregate_of_changes", 4)],
    ),
    "rank of changes": (
        f"select *, rank() over (partition by customer_id order by day) as place from ({CHANGED})",
        [("window_of_changes", 1)],
    ),
    "limit": (f"{CHANGED}\norder by day\nlimit 10", [("limit", 3)]),
    "clock": ("select order_id, current_timestamp() as at\nfrom {{ ref('orders') }}", [("unsettled", 1)]),
    "bare clock": ("select order_id,\ncurrent_date as at\nfrom {{ ref('orders') }}", [("unsettled", 2)]),
    "numbers of partitions": (
        "select\nmonotonically_increasing_id() as id from {{ ref('orders') }}",
        [("unsettled", 2)],
    ),
    "chance": (
        "select uuid() as id, rand() as share, now() as at from {{ ref('orders') }}",
        [("unsettled", 1)] * 3,
    ),
    "sketches that depend on the order of rows": (
        "select day, approx_top_k(item, 3) as top,\nkll_sketch_agg_bigint(n) as n from {{ ref('orders') }}",
        [("unsettled", 1), ("unsettled", 2)],
    ),
    "dbt's clock": ("select\n'{{ run_started_at }}' as at from {{ ref('orders') }}", [("unsettled", 2)]),
    "ties of landing": (
        "with staged as ({{ staged_orders(changes(source('bronze', 'orders'))) }})\n"
        "select *, row_number() over (partition by order_id order by updated_at desc) as place from staged",
        [("tied_order", 2)],
    ),
    "ties in a model": (
        "select row_number() over (partition by customer_id order by day) as place from {{ ref('orders') }}",
        [("tied_order", 1)],
    ),
    "newest by text": (
        "select *,\nrow_number() over (partition by order_id order by updated_at, {{ landing_order() }}) "
        "as place from {{ changes(source('bronze', 'orders')) }}",
        [("text_order", 2)],
    ),
    "newest by text of a CTE": (
        "with read as (select order_id, nullif(trim(updated_at), '') as changed_at from "
        "{{ source('bronze', 'orders') }}), kept as (select * from read)\n"
        "select order_id, first_value(order_id) over (order by changed_at desc, {{ landing_order() }}) "
        "as one "
        "from kept",
        [("text_order", 2)],
    ),
    "newest by text of a model": (
        "select order_id,\nmax_by(order_id, o.changed_on) as last_id from {{ ref('orders') }} as o "
        "group by order_id",
        [("text_order", 2)],
    ),
    "a cast of text to a time": (
        "select order_id,\ncast(nullif(trim(updated_at), '') as timestamp) as at,\ntry_to_timestamp(status) "
        "as b from {{ changes(source('bronze', 'orders')) }}",
        [("partial_time", 2), ("partial_time", 3)],
    ),
    "allowed without a reason": (f"{CHANGED} limit 10 -- tidemark: allow limit", [("limit", 1)] * 2),
}


@pytest.mark.parametrize(("sql", "expected"), REFUSED.values(), ids=REFUSED)
def test_results_that_a_rebuild_cannot_repeat_are_refused(sql: str, expected: list[tuple[str, int]]) -> None:
    """R2.1: with the line of the model's file."""
    assert rules(sql) == expected


SOUND = {
    "changed keys and rows of another table": f"with keys as (select distinct customer_id from ({CHANGED})) "
    "select keys.customer_id, sum(o.amount) from keys left join {{ ref('facts') }} as o "
    "on keys.customer_id = o.customer_id group by keys.customer_id",
    "newest of a batch": "with staged as ({{ staged_orders(changes(source('bronze', 'orders'))) }}) "
    "select *, row_number() over (partition by order_id order by at desc, {{ landing_order() }}) as place, "
    "count(*) over (partition by order_id) as _versions from staged",
    "a column called now": "select order_id, now, `limit` from {{ ref('orders') }}",
    "allowed": f"-- tidemark: allow limit: the feed has three rows\n{CHANGED} limit 10",
    "newest by a cast": "with read as (select *, to_timestamp(updated_at, 'M/d/yyyy') as changed_at from "
    "{{ source('bronze', 'orders') }}) select row_number() over (partition by order_id order by changed_at, "
    "{{ landing_order() }}) as place from read",
    "newest by a staged column": "with staged as ({{ staged_orders(changes(source('bronze', 'orders'))) }}) "
    "select row_number() over (partition by order_id order by updated_at, {{ landing_order() }}) as place "
    "from staged",
    "a cast of a model's column": "select cast(changed_on as timestamp) as at from {{ ref('orders') }}",
    "first by name": "select row_number() over (order by status, {{ landing_order() }}) as place from "
    "{{ source('bronze', 'orders') }}",
    "macros of one's own": "{{ union_of(ref('orders'), ref('facts')) }}",
    "blocks": "select {% for name in ['a', 'b'] %}{{ name }},{% endfor %} 1 as one from {{ ref('orders') }}",
    "braces in arguments": "{{ config(meta={'prune_by': {'day': 'x'}}) }} select * from {{ ref('orders') }}",
    "not SQL": "select from where {{",
}


@pytest.mark.parametrize("sql", SOUND.values(), ids=SOUND)
def test_results_that_a_rebuild_repeats_pass(sql: str) -> None:
    """R2.1: no false alarm."""
    assert rules(sql) == []


@pytest.mark.parametrize("model", sorted((ROOT / "models").rglob("*.sql")), ids=lambda model: model.stem)
def test_all_models_can_be_read(model: Path) -> None:
    """R2.1: what cannot be parsed would not be checked."""
    assert parsed(model.read_text()) is not None


def test_the_projects_models_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2.1: those of the shop too; a comment that names `is_incremental` does not switch the checks off."""
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "none")
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path))
    manifest = invoke_dbt(["--quiet", "parse"])
    models = [node for node in manifest.nodes.values() if node.resource_type == "model"]
    assert {node.name: findings_of(manifest, node.unique_id) for node in models} == {
        node.name: [] for node in models
    }
    orders = next(node for node in models if node.name == "orders")
    orders.raw_code += "\n-- is_incremental\nlimit 1"
    assert [finding.rule for finding in findings_of(manifest, orders.unique_id)] == ["limit"]
    orders.raw_code += "\n{% if is_incremental() %}{% endif %}"
    assert findings_of(manifest, orders.unique_id) == []


def test_a_staging_model_that_is_read_by_its_changes_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.1: an aggregate in it would see only the changed rows; a model that reads all rows may read it."""
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "none")
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path))
    manifest = invoke_dbt(["--quiet", "parse"])
    models = {node.name: node for node in manifest.nodes.values() if node.resource_type == "model"}
    staging = models["stg_customers"]
    staging.raw_code = (
        "select customer_id,\nmax(name) as name from {{ source('bronze', 'customers') }} group by all"
    )
    for reader in ("customers", "rejected_customers"):
        (finding,) = findings_of(manifest, models[reader].unique_id)
        assert finding.rule == "aggregate_of_changes"
        assert finding.message.startswith("line 2 of models/staging/shop/stg_customers.sql: an aggregate")
    assert findings_of(manifest, models["customer_history"].unique_id) == []


def test_newest_by_must_not_be_text() -> None:
    """R2.1: a date, a time or a number orders versions; text behind one of them only breaks ties."""
    types = {
        "sent": "string",
        "code": "varchar(8)",
        "at": "timestamp",
        "amount": "decimal(9, 2)",
        "flag": "boolean",
    }
    expected = {
        ("sent",): "sent",
        ("flag", "code"): "code",
        ("at", "sent"): None,
        ("amount", "code"): None,
        ("unknown", "sent"): None,
        (): None,
    }
    assert {key: text_that_orders(key, types) for key in expected} == expected


def test_newest_by_is_checked_against_the_declaration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.1: before the run, from the types in the model's YAML."""
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path))
    manifest = invoke_dbt(["--quiet", "parse"])
    model = next(node for node in manifest.nodes.values() if node.name == "user_events")
    model.columns["updated_at"].data_type = "STRING"
    (finding,) = findings_of(manifest, model.unique_id)
    assert (finding.rule, finding.line) == ("text_order", 1)
    assert "newest_by is `updated_at`, which is text" in str(finding)
