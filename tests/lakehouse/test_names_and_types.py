"""Columns of strange names and types: kept from run to run, or refused before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import VariantVal

from tests.conftest import ROOT, both_formats_nightly
from tests.lakehouse.conftest import FixtureProject

pytestmark = [pytest.mark.R1, pytest.mark.R2]
COLUMNS = (
    "id int, k string, x int, js string, c char(5), v varchar(3), tiny tinyint, d double, "
    "m map<string, int>, mm map<string, map<string, int>>, present struct<id: int, x: int>"
)
ROWS = (
    """1, 'a', 1, '{"b": 1}', 'ab', 'x', 1, 0.0, map('p', 1, 'q', null), map('a', map('b', 1)), struct(9, 9)""",
    "2, 'b', 2, '{}', 'ab', 'y', 2, double('nan'), map(), map(), struct(9, 9)",
    "3, 'b', null, null, 'xyz', 'y', null, null, null, null, null",
)
LATER = (
    "4, 'c', 4, '[1]', 'xyz', 'x', 3, 1.5, map('z', 1), map('a', null), struct(1, 2)",
    """5, 'c', 5, '{"a": 2}', 'q', 'z', 4, 2.5, map('z', 1), map('a', null), null""",
)
SOURCE = "{{ source('strange', 'things') }}"
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
    "flags": "select ID as Id, x as _versions, x as _is_deleted, true as _is_retracted from S",
    "words": f"select id, {NAMES}, present, struct(x) as incoming, struct(k as id) as net, m as rows from S",
    "types": "select id, c, v, d, tiny, array(tiny) as many, mm, array(m) as ms, struct(m as m) as inside from S",
    "zeros": "select id, d from S",
    "chars": "select c as id, count(*) as n, max(v) as v from S group by c",
    "counts": "select k as id, max(id) as last, map('n', count(*)) as counts from S group by k",
    "places": "select id, m, row_number() over (partition by k order by id) as place from S",
    "pairs": "select a.id, b.m, b.present, to_json(a.m) as `to_json` from S as a join S as b on a.id = b.id",
}
VARIANT = "select id, parse_json(js) as js, struct(parse_json(js) as v) as s from S"
OF_DELTA = {"variants": VARIANT}
OF_ICEBERG = {
    "spaces": "select id, x as `Order ID`, k as `a,;b`, x as `a``b`, count(1) over (partition by k) from S"
}
REFUSED = {
    "void": ("select id, null as nothing from S", "`nothing` is NULL without a type. Give it one"),
    "map_key": ("select m as id, x from S", "`id` is in unique_key and is of type map<string,int>"),
    "change": ("select id, x as _change_type from S", "`_change_type` is the name of a column of"),
}


class Strange(FixtureProject):
    """A project of models over one table, whose text is given."""

    def __init__(self, spark: Any, prefix: str, folder: Path) -> None:
        super().__init__(spark, "guarded", prefix)
        self.models = self.own_copy(folder)
        (self.folder / "profiles.yml").symlink_to(ROOT / "profiles.yml")
        for path in self.models.iterdir():
            path.unlink()
        tables = "[{name: things}]"
        schema = "schema: '{{ target.schema }}_bronze'"
        (self.models / "strange.yml").write_text(f"sources: [{{name: strange, {schema}, tables: {tables}}}]")
        self.texts: dict[str, str] = {}
        self.things = self.create_source("things", COLUMNS)

    def write(self, models: dict[str, str]) -> None:
        self.texts |= models
        for name, sql in models.items():
            text = "{{ config(unique_key='id') }}\n" + sql.replace(" S", f" {SOURCE}")
            (self.models / f"{name}.sql").write_text(text)

    def remove(self, model: str) -> None:
        (self.models / f"{model}.sql").unlink()
        del self.texts[model]

    def differing(self) -> dict[str, Any]:
        """Return the models whose tables are not what their queries give, with both sides' rows."""
        found = {}
        for name, sql in self.texts.items():
            queries = (sql.replace(" S", f" {self.things}"), f"select * from {self.table(name)}")
            sides = [self.values(query) for query in queries]
            if sides[0] != sides[1]:
                found[name] = sides
        return found

    def values(self, sql: str) -> list[str]:
        """Return rows as text, in which maps and variants with the same values are alike."""
        return sorted(_text(row.asDict(recursive=False)) for row in self.spark.sql(sql).collect())


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(sorted((_text(key).lower(), _text(one)) for key, one in value.items()))
    if isinstance(value, (list, tuple)):
        return json.dumps([_text(one) for one in value])
    return f"{type(value).__name__} {value.toJson() if isinstance(value, VariantVal) else value!r}"


@both_formats_nightly
def test_columns_of_any_name_and_type_are_kept_or_refused(
    spark: Any, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.2: what the first run accepts, later runs maintain; `verify` proves it."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    project = Strange(spark, prefix, tmp_path)
    kept = KEPT | (OF_DELTA if table_format == "delta" else OF_ICEBERG)
    project.write(kept | {name: sql for name, (sql, _) in REFUSED.items()})
    spark.sql(f"insert into {project.things} values ({'), ('.join(ROWS)})")
    failed = dict(project.dbt("run").failed)
    for name, (_, sentence) in REFUSED.items():
        assert sentence in failed.pop(name, "it ran"), name
        assert not spark.catalog.tableExists(project.table(name))
        project.remove(name)
    assert failed == {}
    assert project.differing() == {}
    assert [row[1:] for row in project.rows("flags")] == [(1, 1, True), (2, 2, True), (None, None, True)]
    spark.sql(f"insert into {project.things} values ({'), ('.join(LATER)})")
    changes = "x = 10, d = -0.0D, c = 'xyz', m = map('q', null, 'p', 1), tiny = 5"
    spark.sql(f"update {project.things} set {changes} where id = 1")
    spark.sql(f"delete from {project.things} where id = 2")
    assert project.dbt("run").failed == []
    assert project.differing() == {}
    assert project.rows("flags")[0] == (1, 10, 10, True)
    assert project.rows("chars") == [("q    ", 1, "z"), ("xyz  ", 3, "y")]
    if table_format == "delta":
        spark.sql(f"alter table {project.things} alter column v type varchar(10)")
        spark.sql(f"update {project.things} set v = 'longer' where id = 1")
        assert project.dbt("run", "--select", "chars").failed == []
        assert project.rows("chars")[1] == ("xyz  ", 3, "y")
        assert project.differing().keys() <= {"types"}
