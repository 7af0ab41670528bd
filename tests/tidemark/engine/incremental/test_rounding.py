"""What rounding may do to a column is known, so that it is told from a real difference."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.night import nightly
from tidemark.engine.incremental.aggregates import ORDERED, ROUNDED, SETTLED
from tidemark.engine.incremental.canonical import comparable
from tidemark.engine.incremental.rounding import ordered_calls, shifted
from tidemark.engine.verify.last_digits import without_rounding
from tidemark.engine.verify.sides import columns_of, differing_rows

pytestmark = [pytest.mark.R1]
VALUES = """
select
    `group`,
    id,
    case when `group` = 'cancels' then element_at(array(0.1D, 0.2D, -0.3D, 0D), cast(id % 4 + 1 as int))
        else 1e6D * sin(id) + if(id = 7, 0.001D, 0D) end as x,
    cos(id) * 1e3D as y,
    cast(id as int) as n,
    cast(id / 7 as decimal(12, 4)) as d
from (select explode(array('whole', 'cancels', 'lost', 'nan', 'moved')) as `group`), range(40)
"""
SUMS = """
with moments as (
    select
        `group`, sum(x) as total, avg(x) as mean, stddev(x) as spread, var_pop(x) as variance,
        covar_samp(x, y) as together, corr(x, y) as link, skewness(x) as skew, kurtosis(x) as tails,
        round(sum(x) / 7, 2) as rounded, sum(x) filter (where y > 0) as some, sum(distinct x) as each,
        max(x) as highest, avg(n) as whole_mean, cast(sum(d) as double) as exact
    from readings group by `group`
), running as (
    select `group`, max(so_far) as so_far from (
        select `group`, sum(x) over (partition by `group` order by id) as so_far from readings
    ) as all_of_them group by `group`
)
select moments.*, running.so_far
from moments inner join running on moments.`group` = running.`group`
"""
AS_WRITTEN, BACKWARDS = "order by id", "order by id desc"


def sums(spark: SparkSession, order: str) -> DataFrame:
    """The sums, added in an order."""
    spark.sql(VALUES).selectExpr("*").coalesce(1).createOrReplaceTempView("unordered")
    spark.sql(f"select * from unordered {order}").coalesce(1).createOrReplaceTempView("readings")
    return spark.sql(SUMS)


def told_apart(spark: SparkSession, rows: list[tuple[object, ...]]) -> tuple[int, tuple[str, ...], set[str]]:
    """Return how many rows differ only by rounding, in which columns, and the groups of the others."""
    query = sums(spark, AS_WRITTEN)
    table = spark.createDataFrame(rows, query.schema)
    columns = columns_of(table, query, (), comparable)
    differing = differing_rows(table, query, columns)
    found = without_rounding(differing, columns, SUMS, spark.sql, lambda name: None)
    assert found is not None
    return found.rows, found.columns, {row[0] for row in found.differing.collect()}


def test_rounding_is_distinguished_from_real_differences(few_partitions: SparkSession) -> None:
    """R1.5: another order does not count as a difference, even if numbers cancel out.

    A lost thousandth among millions counts, and so do NaN and the last digit of values that are not rounded.
    """
    rows = []
    for row in sums(few_partitions, BACKWARDS).collect():
        values = row.asDict()
        if values["group"] == "lost":
            values["total"] -= 0.001
        elif values["group"] == "nan":
            values["mean"] = float("nan")
        elif values["group"] == "moved":
            values["whole_mean"] *= 1 + 2**-51
        rows.append(tuple(values.values()))
    number, columns, differing = told_apart(few_partitions, rows)
    assert differing == {"lost", "nan", "moved"}
    assert number == 2
    assert {"total", "spread", "link", "some"} <= set(columns)
    assert not {"highest", "whole_mean", "exact", "so_far"} & set(columns)


@nightly("functions")
def test_each_aggregate_is_in_one_table(spark: SparkSession) -> None:
    """R1.5: also those of the next Spark: the list of Spark itself is compared."""
    rows = spark.sql("show functions").collect()
    tables = (set(ROUNDED), ORDERED, SETTLED)
    assert sum(map(len, tables)) == len(set().union(*tables))
    catalog = spark._jsparkSession.sessionState().catalog()  # type: ignore[attr-defined]
    parser = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]
    names = [row[0] for row in rows if re.fullmatch(r"[a-z_0-9]+", row[0])]
    groups = {
        name: catalog.lookupFunctionInfo(parser.parseFunctionIdentifier(name)).getGroup() for name in names
    }
    aggregates = {name for name, group in groups.items() if group == "agg_funcs"}
    assert aggregates - set().union(*tables) == set()


@pytest.mark.parametrize(
    ("sql", "queries"),
    [
        ("select a, max(b) from t group by a", 0),
        ("select a from t where a > (select count(*) from u)", 0),
        ("select a, sum(b), avg(c) from t group by a", 3),  # they meet in no column
        ("select a, sum(b) / sum(c) as r from t group by a", 5),
        ("with s as (select a, sum(b) as b, sum(c) as c from t group by a) select * from s", 3),
        ("with s as (select a, sum(b) as b, sum(c) as c from t group by a) select a, b - c from s", 5),
        ("select a, b from t group by a, b having sum(c) > 1 order by sum(c)", 0),
        ("select a, sum(b) over (partition by a) from t union all select a, sum(c) from t group by a", 3),
    ],
)
def test_sums_that_meet_are_moved_one_by_one(sql: str, queries: int) -> None:
    """R1.5: moved together they could cancel out, and a bound would be too small."""
    assert len(shifted(sql)) == queries


def test_functions_without_a_bound_are_named() -> None:
    """R1.5: the output says where the order of rows may decide."""
    sql = "select a, collect_list(b), first(c), max(d), approx_percentile(e, 0.5) from t group by a"
    assert ordered_calls(sql) == ["collect_list", "first", "percentile_approx"]
    assert ordered_calls("select from where") == []
