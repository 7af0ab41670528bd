"""Queries of other dialects in Spark's SQL, and which columns of undeclared tables they use."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from tidemark.engine.prove.stock.dialect import UntranslatedError, translated
from tidemark.engine.prove.stock.guessing import guessed_columns
from tidemark.engine.prove.stock.inputs import spark_type
from tidemark.engine.prove.stock.settings import Settings
from tidemark.engine.prove.stock.usage import filtered_tables, guessed_type, usage_of

pytestmark = pytest.mark.R2


def test_the_time_of_a_run_is_a_value() -> None:
    """R2.5: and columns that hold it are known, through the queries that pass them on."""
    query = translated(
        "with a as (select id, current_timestamp() as loaded_at, current_date() as day from t) "
        "select id, loaded_at, day, id + 1 as n from a where day > date '2025-01-01'",
        "spark",
    )
    assert query.clocked == {"loaded_at", "day"}
    text = query.at("2025-03-04 05:06:07")
    assert "CAST('2025-03-04 05:06:07' AS TIMESTAMP) AS loaded_at" in text
    assert "CAST(CAST('2025-03-04 05:06:07' AS TIMESTAMP) AS DATE) AS day" in text


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("select now() as n", "spark"),
        ("select localtimestamp() as n", "spark"),
        ("select curdate() as n", "spark"),
        ("select localtimestamp as n", "postgres"),
        ("select clock_timestamp() as n", "postgres"),
        ("select 'now'::timestamp as n", "postgres"),
        ("select getdate() as n", "redshift"),
        ("select trunc(sysdate) as n", "redshift"),
        ("select sysdate() as n", "snowflake"),
        ("select get_current_timestamp() as n", "duckdb"),
        ("select current_timestamp()::date as n", "snowflake"),
    ],
)
def test_each_clock_of_a_dialect_is_found(sql: str, dialect: str) -> None:
    """R2.5: the real time would be outside of all histories."""
    query = translated(sql, dialect)
    assert "@now@" in query.sql
    assert "BIGINT" not in query.sql
    assert query.clocked == {"n"}


def test_a_column_that_compares_with_the_clock_is_compared() -> None:
    """R2.5: only those that are the time of the run are left out."""
    sql = "select case when ends < current_date() then 'over' end as state, current_date() as day from t"
    assert translated(sql, "spark").clocked == {"day"}
    with pytest.raises(UntranslatedError, match="reads the clock by"):
        translated("select current_time as n", "postgres")


@pytest.mark.parametrize(
    ("kind", "dialect", "found"),
    [
        ("NUMBER(38)", "snowflake", "decimal(38,0)"),
        ("TIMESTAMP_NTZ", "snowflake", "timestamp"),
        ("VARIANT", "snowflake", "string"),
        ("jsonb", "postgres", "string"),
        ("character varying(20)", "postgres", "string"),
        ("numeric", "postgres", "decimal(18,4)"),
        ("BIGNUMERIC", "bigquery", "string"),
        ("ARRAY<STRUCT<key STRING, n INT64>>", "bigquery", "array<struct<key:string,n:bigint>>"),
        ("super", "redshift", "string"),
        ("no type at all", "spark", "string"),
        (None, "spark", "string"),
    ],
)
def test_types_of_other_dialects_are_sparks_or_text(kind: str | None, dialect: str, found: str) -> None:
    """R2.5: a type that Spark does not have ends no command."""
    assert spark_type(kind, dialect) == found


def test_columns_by_which_a_model_is_written_are_guessed() -> None:
    """R2.5: where it reads all columns of one undeclared table."""
    tree = parse_one("select * from raw where at > 5")
    settings = Settings("merge", ("order_id",))
    guessed = guessed_columns({"raw": {"at": "", "n": "int"}}, {"m": tree}, {}, [("m", settings)])
    assert guessed == {"raw": {"at": "string", "n": "int", "order_id": "bigint"}}


def test_spark_sql_stays_as_it_is() -> None:
    """R2.5: also what sqlglot would write otherwise, or cannot parse."""
    for sql in ("select  a,/*x*/ b from t", "select * from t lateral subquery something odd ]"):
        assert translated(sql, "spark").sql == sql


def test_a_foreign_query_is_translated() -> None:
    """R2.5: `not in` of Snowflake is no comparison with `all`."""
    query = translated('select iff(a, 1, 2) as b from "T" where c not in (select d from u)', "snowflake")
    assert "CASE WHEN a THEN 1 ELSE 2 END" in query.sql or "IF(a, 1, 2)" in query.sql
    assert "`T`" in query.sql
    assert "ALL" not in query.sql
    assert "NOT c IN (SELECT d FROM u)" in query.sql


@pytest.mark.parametrize(("sql", "dialect"), [("select from from", "snowflake"), ("select 1", "klingon")])
def test_what_cannot_be_read_is_named(sql: str, dialect: str) -> None:
    """R2.5: with the dialect."""
    with pytest.raises(UntranslatedError, match=dialect):
        translated(sql, dialect)


def test_columns_are_followed_to_the_tables_that_nobody_declared() -> None:
    """R2.5: through `*`, plain columns and views; computed columns end where they are computed."""
    queries = {
        "stg": parse_one(
            "with s as (select * from raw) select id as order_id, s.paid_at, upper(name) as n from s"
        ),
        "fct": parse_one(
            "select order_id, n, cast(code as int) as c from stg join other on stg.n = other.label"
        ),
        "all_of": parse_one("select * from raw union all select * from older"),
        "top": parse_one("select amount * 2 as double_amount from all_of"),
    }
    found = usage_of(queries, {"other": ["label", "code"]}).columns
    assert sorted(found) == ["older", "other", "raw"]
    assert sorted(found["raw"]) == ["amount", "id", "name", "paid_at"]
    assert sorted(found["older"]) == ["amount"]
    types = {name: guessed_type(name, uses) for name, uses in found["raw"].items()}
    assert types == {"amount": "double", "id": "bigint", "name": "string", "paid_at": "timestamp"}


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("select cast(x as date) from t", "date"),
        ("select 1 from t where x = 'paid'", "string"),
        ("select 1 from t where x in ('a', 'b')", "string"),
        ("select sum(x) from t", "double"),
        ("select date_trunc('day', x) from t", "timestamp"),
    ],
)
def test_a_type_is_guessed_from_what_is_done_with_a_column(sql: str, kind: str) -> None:
    """R2.5: and only then from its name."""
    assert guessed_type("x", parse_one(sql, read="spark").find_all(exp.Column)) == kind


def test_the_filter_of_new_rows_looks_at_a_table() -> None:
    """R2.5: that of the condition that only the incremental run has, through a view."""
    views = {"stg": parse_one("select id, at as changed_at, customer_id from orders")}
    full = parse_one("select * from stg join customers using (customer_id) where stg.id > 0")
    sql = "select * from stg join customers using (customer_id) where stg.id > 0 and stg.changed_at > 5"
    assert filtered_tables(full, parse_one(sql), views) == {"orders"}
    assert filtered_tables(full, full, views) == frozenset()
