"""Columns of strange names and types: kept from run to run, or refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lakehouse.strange import StrangeProject

pytestmark = [pytest.mark.R1, pytest.mark.R2]
COLUMNS = (
    "id int, k string, x int, js string, c char(5), v varchar(3), tiny tinyint, d double, "
    "m map<string, int>, mm map<string, map<string, int>>, present struct<id: int, x: int>"
)
ROWS = (
    "1, 'a', 1, '[1, {}]', 'ab', 'x', 1, 0.0, map('p', 1, 'q', null), map('a', map('b', 1)), struct(9, 9)",
    "2, 'b', 2, '{}', 'ab', 'y', 2, double('nan'), map(), map(), struct(9, 9)",
    "3, 'b', null, null, 'xyz', 'y', null, null, null, null, null",
)
LATER = (
    "4, 'c', 4, '[1]', 'xyz', 'wider', 3, 1.5, map('z', 1), map('a', null), struct(1, 2)",
    """5, 'c', 5, '{"a": 2}', 'q', 'z', 4, 2.5, map('z', 1), map('a', null), null""",
)
OF_ENGINE = (
    "_copies",
    "_outcome",
    "_is_present",
    "_is_new",
    "_side",
    "__sign",
    "_net",
    "_metadata",
    "_source",
)
PUNCTUATION = ("a.b", "'", '"', "ä", "select", "100%", "😀", "x" * 200)
NAMES = ", ".join(f"x as `{name}`" for name in (*OF_ENGINE, *PUNCTUATION))
KEPT = {
    "flags": "select ID as Id, x as _versions, x as _is_deleted, true as _is_retracted from @things",
    "words": f"select id, {NAMES}, present, struct(x) as incoming, m as rows from @things",
    "types": "select id, c, v, tiny, array(tiny) as t, mm, array(m) as ms, struct(m) as inside from @things",
    "zeros": "select id, d from @things",
    "chars": "select c as id, count(*) as n, max(v) as v from @things group by c",
    "counts": "select k as id, max(id) as last, map('n', count(*)) as counts from @things group by k",
    "places": "select id, m, row_number() over (partition by k order by id) as place from @things",
    "pairs": "select a.id, b.m, b.present, a.m as other from @things as a join @things as b on a.id = b.id",
}
VARIANT = "select id, parse_json(js) as js, struct(parse_json(js) as v) as s from @things"
OF_DELTA = {"variants": VARIANT}
OF_ICEBERG = {
    "spaces": "select id, x as `Order ID`, k as `a,;b`, x as `a``b`, count(1) from @things group by all"
}
REFUSED = {
    "void": ("select id, null as nothing from @things", "`nothing` is NULL without a type. Give it one"),
    "map_key": ("select m as id, x from @things", "`id` is in unique_key and is of type map<string,int>"),
    "change": ("select id, x as _change_type from @things", "`_change_type` is the name of a column of"),
}


@pytest.mark.formats(day="delta", night="delta iceberg")
def test_columns_of_any_name_and_type_are_kept_or_refused(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.2: what the first run accepts, later runs maintain; the tables are what the queries give."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    project = StrangeProject(spark, prefix, tmp_path)
    things = project.add_source("things", COLUMNS)
    kept = KEPT | (OF_DELTA if table_format == "delta" else OF_ICEBERG)
    for name, sql in (kept | {name: sql for name, (sql, _) in REFUSED.items()}).items():
        project.add_model(name, sql)
    spark.sql(f"insert into {things} values ({'), ('.join(ROWS)})")
    failed = dict(project.dbt("run").failed)
    for name, (_, sentence) in REFUSED.items():
        assert sentence in failed.pop(name, "it ran"), name
        assert not spark.catalog.tableExists(project.table(name))
        project.remove_model(name)
    assert failed == {}
    assert project.differing() == {}
    assert [row[1:] for row in project.rows("flags")] == [(1, 1, True), (2, 2, True), (None, None, True)]
    if table_format == "delta":
        spark.sql(f"alter table {things} alter column v type varchar(10)")
    spark.sql(f"insert into {things} values ({'), ('.join(LATER)})")
    changes = "x = 10, d = -0.0D, c = 'xyz', m = map('q', null, 'p', 1), tiny = 5"
    spark.sql(f"update {things} set {changes} where id = 1")
    spark.sql(f"delete from {things} where id = 2")
    assert project.dbt("run").failed == []
    assert project.differing() == {}
    assert project.rows("flags")[0] == (1, 10, 10, True)
    counts = [(value.strip(), *others) for value, *others in project.rows("chars")]  # Iceberg does not pad
    assert counts == [("q", 1, "z"), ("xyz", 3, "y")]
