"""Models over columns of any type with any name: maintained, or refused on their first run in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.lakehouse.strange import StrangeProject
from tests.night import nightly
from tidemark.engine.adapter.model_columns import RESERVED
from tidemark.engine.incremental.canonical import quoted

pytestmark = [pytest.mark.R1, pytest.mark.R2]
EXAMPLES, TABLES = 5, 4
# SQL of some values of each type; the first ones are equal, or look alike
VALUES = {
    "int": ("0", "1", "2"),
    "smallint": ("0S", "7S"),
    "string": ("'a'", "'A'", "'a '", "''"),
    "char(3)": ("'a'", "'ab'", "'abc'"),
    "varchar(4)": ("'a'", "'a '", "'abcd'"),
    "binary": ("x'00ff'", "x''", "x'41'"),
    "boolean": ("true", "false"),
    "double": ("0D", "-0D", "double('nan')", "0.1D"),
    "float": ("float(0)", "float('inf')", "float(0.1)"),
    "decimal(38,10)": ("0.1BD", "0.10BD", "12345678901234567890.5BD"),
    "date": ("date'2025-01-01'", "date'0001-01-01'"),
    "timestamp": ("timestamp'2025-01-01 00:00:00'", "timestamp'2025-03-30 02:30:00.000001'"),
    "timestamp_ntz": ("timestamp_ntz'2025-01-01 00:00:00'", "timestamp_ntz'2025-03-30 02:30:00'"),
    "array<int>": ("array(1, null)", "array(null, 1)", "array()"),
    "struct<a: int, id: string>": ("struct(1, 'a')", "struct(null, null)", "struct(1, null)"),
    "map<string, int>": ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", "map('a', null)", "map()"),
    "array<map<int, double>>": ("array(map(1, 0D))", "array(map())", "array(null)"),
    "map<string, array<struct<m: map<string, int>>>>": (
        "map('a', array(struct(map('b', 1))))",
        "map('a', null)",
    ),
    "variant": ('parse_json(\'{"a": 1, "b": 2}\')', 'parse_json(\'{"b":2,"a":1}\')', "parse_json('1')"),
    "string collate UTF8_LCASE": ("'a'", "'A'", "'b'"),
}
NOT_OF = {"delta": ("string collate UTF8_LCASE",), "iceberg": ("variant",)}  # in sources
KNOWN = (
    *(
        "_is_deleted",
        "_versions",
        "_copies",
        "__sign",
        "present",
        "incoming",
        "rows",
        "net",
        "result",
        "touched",
    ),
    *(
        "_metadata",
        "_file",
        "_change_type",
        "__tidemark_sign",
        "value",
        "key",
        "select",
        "count(1)",
        "x" * 130,
    ),
    *("_commit_version", "side", "united", "by_key", "this", "from", "order", "table", "true", "null"),
)
NAMES = st.one_of(
    st.sampled_from(KNOWN), st.text(st.sampled_from("aB1_ .`'\"-\\%é😀ßİ$;,(){}=/@"), min_size=1, max_size=6)
)
GROUPED = ("map", "variant", "array", "struct")
JAVA = ("Exception", "org.apache", "calling o", "DeltaUnsupported", "> in macro")


@dataclass(frozen=True)
class Drawn:
    """A table: the names and types of its columns beside `id` and `g`, its rows, and two changes of it."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    inserts: tuple[tuple[str, ...], ...]
    update: tuple[str, ...]


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    names = draw(st.lists(NAMES, min_size=4, max_size=4, unique_by=str.lower).filter(_are_free))
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=4, max_size=4))
    row = st.tuples(*(st.sampled_from(("null", *VALUES[kind])) for kind in kinds))
    rows = draw(st.lists(row, min_size=4, max_size=4))
    return Drawn(
        tuple(zip(names, kinds, strict=True)),
        tuple(rows),
        tuple(draw(st.lists(row, min_size=2, max_size=2))),
        draw(row),
    )


def _are_free(names: list[str]) -> bool:
    return not {"id", "g", "n", "place"} & {name.lower() for name in names}


@nightly("types")
@pytest.mark.formats(day="delta", night="delta iceberg")
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(drawn=st.lists(tables(), min_size=TABLES, max_size=TABLES))
def test_columns_of_any_name_and_type_are_kept_or_refused(
    drawn: list[Drawn], spark: SparkSession, table_format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """R2.2: after inserted, updated and deleted rows, each table is what its query gives."""
    folder: Path = tmp_path_factory.mktemp("strange")
    prefix = f"f{folder.name[7:]:0>4}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", prefix)
        project = StrangeProject(spark, prefix, folder)
        for number, table in enumerate(drawn):
            _add(project, f"t{number}", table, table_format)
        for name, message in project.dbt("run").failed:
            assert not any(word in message for word in JAVA), (project.queries[name], message)
            assert not spark.catalog.tableExists(project.table(name)), (project.queries[name], message)
            project.remove_model(name)
        for step in range(3):
            assert project.differing() == {}, step
            if step < 2:
                _change(project, drawn, step, table_format)
                assert [(project.queries[n], text) for n, text in project.dbt("run").failed] == []


def _add(project: StrangeProject, name: str, table: Drawn, table_format: str) -> None:
    kinds = [kind if kind not in NOT_OF[table_format] else "string" for _, kind in table.columns]
    columns = list(zip(_of_source(table, table_format), kinds, strict=True))
    project.add_source(name, f"id int, g string, {', '.join(f'{each} {kind}' for each, kind in columns)}")
    _insert(project, name, table, 1, table.rows)
    every = ", ".join(
        f"{each} as {quoted(given)}" for (each, _), (given, _) in zip(columns, table.columns, strict=True)
    )
    groups = ", ".join(each for each, kind in columns if not kind.startswith(GROUPED)) or "g"
    first, last = columns[0][0], columns[-1][0]
    key, given = (first, table.columns[0][0]) if not kinds[0].startswith(GROUPED) else ("id", "id")
    shapes = {
        "rows": (f"id, {every} from @{name} where id <> 3", "id"),
        "keyed": (
            f"id as {quoted(table.columns[0][0])}, g, {last} as other from @{name}",
            table.columns[0][0],
        ),
        "groups": (
            f"g as id, count(*) as n, max({groups.split(', ')[0]}) as top from @{name} group by g",
            "id",
        ),
        "named": (f"{key} as {quoted(given)}, count(*) as n from @{name} group by {key}", given),
        "each": (f"distinct concat_ws('-', id, g) as id, {groups} from @{name}", "id"),
        "places": (f"id, {every}, rank() over (partition by g order by id) as place from @{name}", "id"),
        "pairs": (
            f"a.id, a.{first} as one, b.{last} as other from @{name} a join @{name} b on a.id = b.id",
            "id",
        ),
    }
    for shape, (sql, of) in shapes.items():
        project.add_model(f"{name}_{shape}", f"select {sql}", of)


def _of_source(table: Drawn, table_format: str) -> list[str]:
    """Return the names of a source's columns: those that were drawn, where its format has them."""
    reserved = (*RESERVED[table_format], *(() if table_format == "iceberg" else ("`",)))
    return [
        quoted(f"c{place}" if any(word in name.lower() for word in reserved) else name)
        for place, (name, _) in enumerate(table.columns)
    ]


def _change(project: StrangeProject, drawn: list[Drawn], step: int, table_format: str) -> None:
    for number, table in enumerate(drawn):
        name = project.sources[f"t{number}"]
        if step == 0:
            _insert(project, f"t{number}", table, 11, table.inserts)
            project.spark.sql(f"delete from {name} where id = 2")
            continue
        for place, (column, value) in enumerate(
            zip(_of_source(table, table_format), table.update, strict=True)
        ):
            project.spark.sql(f"update {name} set {column} = {value} where id = {1 + 10 * (place % 2)}")
        project.spark.sql(f"update {name} set g = 'moved' where id = 4")


def _insert(
    project: StrangeProject, name: str, table: Drawn, first: int, rows: tuple[tuple[str, ...], ...]
) -> None:
    selects = " union all ".join(
        f"select {first + place}, '{'gh'[place % 2]}', {', '.join(row)}" for place, row in enumerate(rows)
    )
    project.spark.sql(f"insert into {project.sources[name]} {selects}")
