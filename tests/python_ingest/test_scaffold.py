"""`tidemark add`: from sample files to a feed and a silver model that lint and build as they are."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fastavro
import pytest
from pyspark.sql import SparkSession

from python_ingest import project
from python_ingest.commands.add_feed import add_feed
from python_ingest.commands.build import DATA_ONLY, build_models
from python_ingest.commands.land import land
from python_ingest.console.output import output
from python_ingest.errors import TidemarkError
from python_ingest.scaffold.feed import proposed
from python_ingest.scaffold.sampling import sample_of
from tests.conftest import NIGHTLY, ROOT

pytestmark = pytest.mark.R1

COPIED = ("dbt_project.yml", "profiles.yml", ".sqlfluff", "models", "macros", "seeds", "tests/dbt")
INVOICES = """Invoice ID;Date;E-mail (work);Amount;Zip;Note;updated_at
1;2025-01-01;a@x.org;10.50;01234;;2025-01-01T10:00:00Z
2;2025-01-01;b@x.org;7;53111;it's "big";2025-01-01T11:00:00Z
3;2025-01-02;c@x.org;;53111;{{ x }};2025-01-02T11:00:00Z
3;2025-01-02;c@x.org;8.25;53111;paid;2025-01-02T12:00:00Z
"""
PARCELS = """{"parcelId": "p-1", "weight": 1.5, "to": {"city": "Bonn", "zip": 53111}, "tags": ["{{ y }}"]}
{"parcelId": "p-2", "ok": true, "weight": 2, "to": {"city": "Ulm"}, "tags": [], "count": 3}
"""
READING = {
    "type": "record",
    "name": "reading",
    "fields": [
        {"name": "device_id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "place",
            "type": {"type": "record", "name": "p", "fields": [{"name": "room", "type": "string"}]},
        },
    ],
}


@pytest.fixture
def copy(tmp_path: Path, spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the project on schemas of its own, which is the current folder."""
    folder = tmp_path / "a copy"
    for name in COPIED:
        there = ROOT / name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if there.is_dir() else shutil.copy)(there, folder / name)
    (folder / ".jars").symlink_to(ROOT / ".jars")
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(folder / "data/raw"))
    os.chdir(folder)
    yield folder
    os.chdir(ROOT)


def _no_spark() -> SparkSession:
    pytest.fail("CSV needs no Spark")


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.R5
def test_what_is_written_lands_builds_and_lints(copy: Path, spark: SparkSession, prefix: str) -> None:
    """R1.1-R1.4, R5.1: odd names and types, nested ones; each with rules, tests, a unit test."""
    invoices = _write(copy / "data/raw/invoices/invoices_2025-01-01.csv", INVOICES).parent
    _write(copy / "data/raw/parcels/p.jsonl", PARCELS)
    (copy / "data/raw/readings").mkdir()
    with (copy / "data/raw/readings/1.avro").open("wb") as stream:
        fastavro.writer(
            stream, READING, [{"device_id": "d1", "at": 1735725600000, "place": {"room": "hall"}}]
        )
    stops = spark.sql(
        "select 1L as `Stop Id`, cast(2.5 as decimal(5, 1)) as metres, array(struct(1 as n)) as l"
    )
    stops.write.parquet(str(copy / "data/raw/stops"))
    for name in ("invoices", "parcels/p.jsonl", "readings", "stops"):
        add_feed(copy / "data/raw" / name, None, project.load())
    lakehouse = project.load()
    with pytest.raises(TidemarkError, match="The feed 'invoices' already exists"):
        add_feed(invoices, None, lakehouse)

    header, *_ = INVOICES.splitlines()
    _write(invoices / "invoices_2025-01-02.csv", f"{header}\nx;2025-01-03;d;1;1;;2025-01-03T12:00:00Z\n")
    feeds = ("invoices", "parcels", "readings", "stops")
    land(spark, lakehouse, [lakehouse.feeds[name] for name in feeds])
    built = build_models(["--select", *(f"source:bronze.{name}+" for name in feeds)])
    assert {wrote.table.removeprefix(f"{prefix}_"): wrote.said for wrote in built.tables} == {
        "silver.invoices": "3 inserted",
        "silver.rejected_invoices": "1 inserted",
        "silver.parcels": "2 inserted",
        "silver.rejected_parcels": "no change",
        "silver.readings": "1 inserted",
        "silver.rejected_readings": "no change",
        "silver.stops": "1 inserted",
        "silver.rejected_stops": "no change",
    }
    found = spark.table(f"{prefix}_silver.invoices").orderBy("invoice_id").collect()
    assert [(r["invoice_id"], str(r["amount"]), r["zip"], r["note"]) for r in found] == [
        (1, "10.50", "01234", None),
        (2, "7.00", "53111", 'it\'s "big"'),
        (3, "8.25", "53111", "paid"),
    ]
    (rejected,) = spark.table(f"{prefix}_silver.rejected_invoices").collect()
    assert rejected["rejection_reason"] == "invoice_id is not a whole number"
    assert spark.table(f"{prefix}_silver.parcels").where("parcel_to.zip = 53111").count() == 1
    assert spark.table(f"{prefix}_silver.readings").where("place.room = 'hall'").count() == 1
    assert spark.table(f"{prefix}_silver.stops").where("stop_id = 1 and metres = 2.5").count() == 1

    linter = Path(sys.executable).parent / "sqlfluff"
    lint = [str(linter), "lint", *(f"models/silver/{name}" for name in feeds)]
    variables = os.environ | {"TIDEMARK_LAKE": str(copy / "lake-lint")}
    done = subprocess.run(lint, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_files_that_tell_too_little(copy: Path, spark: SparkSession) -> None:
    """Each error says what is missing, and what to do."""
    cases = {
        "picture.png": ("x", "the file name does not show the format"),
        "empty.csv": ("", "empty.csv is empty"),
        "twice.csv": ("a,A\n1,2\n", "the same name twice: 'a', 'A'"),
        "broken.json": ('{"a": ', "no complete JSON object"),
        "sparse.csv": ("a,b\n1,\n,2\n", r"is unique for each record.*(?s:.*)`--key "),
        "jinja.csv": ("id,{{ env_var('HOME') }}\n1,2\n", "would be Jinja in dbt"),
    }
    for name, (text, said) in cases.items():
        with pytest.raises(TidemarkError, match=said):
            add_feed(_write(copy / "some" / name, text), "some_feed", project.load())
    with pytest.raises(TidemarkError, match="There are no files"):
        add_feed(copy / "nowhere", None, project.load())
    assert not (copy / "macros/staging/staged_some_feed.sql").exists()
    with pytest.raises(TidemarkError, match="The feed 'orders' already exists: macros/staging/staged_orders"):
        add_feed(_write(copy / "some" / "orders.csv", "id,a\n1,2\n"), None, project.load())


@pytest.mark.R5
def test_wide_files_build(copy: Path, spark: SparkSession, prefix: str) -> None:
    """R1.2, R5.1: 20 and, at night, 60 columns with a rule on each are planned in seconds, not in minutes."""
    widths = {"gauges": 20, "probes": 60} if NIGHTLY else {"gauges": 20}
    for name, width in widths.items():
        header = ",".join(["id", *(f"value_{number}" for number in range(1, width))])
        rows = [
            ",".join([str(row), *(f"{row}.5" if row else "" for _ in range(1, width))]) for row in range(9)
        ]
        _write(copy / f"data/raw/{name}/{name}_1.csv", "\n".join((header, *rows)))
        add_feed(copy / "data/raw" / name, None, project.load())
        broken = ",".join(["9", *["x"] * (width - 1)])
        _write(copy / f"data/raw/{name}/{name}_2.csv", f"{header}\n{broken}\n")
    lakehouse = project.load()
    land(spark, lakehouse, [lakehouse.feeds[name] for name in widths])
    rejected = [f"rejected_{name}" for name in widths]
    built = build_models([*DATA_ONLY, "--select", *widths, *rejected])
    said = {wrote.table.removeprefix(f"{prefix}_silver."): wrote.said for wrote in built.tables}
    assert said == dict.fromkeys(widths, "9 inserted") | dict.fromkeys(rejected, "1 inserted")
    assert max(wrote.seconds for wrote in built.tables) < 60


FLIGHTS = """year,carrier,flight,dep_time,tailnum,time_hour,name
2013,UA,1,517,N1,2013-01-01 05:00:00,x
2013,UA,2,NA,NA,2013-01-01 05:00:00,x
2013,AA,1,n/a,N2,2013-01-01 05:00:00,x
2013,UA,1,NULL,N3,2013-01-01 06:00:00,x
"""


def test_what_a_file_tells_is_printed(copy: Path, spark: SparkSession, prefix: str) -> None:
    """R1.2, R1.4: words for NULL among numbers, a key of several columns, a column renamed, re-sent names."""
    flights = _write(copy / "data/raw/flights/flights_2013.csv", FLIGHTS)
    with output.console.capture() as printed:
        add_feed(flights, None, project.load())
    said = printed.get()
    assert "renamed year to flight_year (an SQL keyword)" in said
    assert "null NA, NULL, n/a counts as NULL in dep_time\n" in said
    assert 'text NA stays text in tailnum; `options: {null_value: ["", "NA"]}`' in said
    assert "Keeps the last landed row for each time_hour, carrier, flight; use `--key` for other" in said

    for name in ("flights_2013 (1).csv", "re-sent flights.csv"):
        shutil.copy(flights, flights.parent / name)
    _write(
        flights.parent / "late.csv",
        "\n".join((FLIGHTS.splitlines()[0], "2013,B6,9,late,N9,2013-01-01 05:00:00,x")),
    )
    lakehouse = project.load()
    land(spark, lakehouse, [lakehouse.feeds["flights"]])
    build_models(["--select", "source:bronze.flights+"])
    table = spark.table(f"{prefix}_silver.flights").select("carrier", "flight", "dep_time", "tailnum")
    assert sorted(map(tuple, table.collect()), key=str) == [
        ("AA", 1, None, "N2"),
        ("UA", 1, 517, "N1"),
        ("UA", 1, None, "N3"),
        ("UA", 2, None, "NA"),
    ]
    (rejected,) = spark.table(f"{prefix}_silver.rejected_flights").collect()
    assert rejected["rejection_reason"] == "dep_time is not a whole number"


def _key(text: str, tmp_path: Path, *wanted: str, name: str = "lines.csv") -> list[str]:
    file = _write(tmp_path / name, text)
    sample = sample_of(_no_spark, [file])
    return proposed(sample, [file], file, None, wanted).key_names


def test_keys_tell_records_apart(tmp_path: Path) -> None:
    """R1.2: no key repeats in the files, unless a column says which version is the newest."""
    lines = "order_id,product_code,quantity,price\n1,a,2,3\n1,b,1,4\n2,a,5,3\n2,a,5,3\n"
    assert _key(lines, tmp_path) == ["order_id", "product_code"]
    assert _key(lines, tmp_path, "price", "order_id") == ["price", "order_id"]
    assert _key("line_id,city\n1,x\n1,x\n2,x\n", tmp_path) == ["line_id"]  # a record sent twice
    versions = "line_id,city,updated_at\n1,x,2025-01-01T00:00:00\n1,y,2025-01-02T00:00:00\n"
    assert _key(versions, tmp_path) == ["line_id"]
    measured = "".join(f"2025-01-01,s{n % 3},{n}\n2025-01-02,s{n % 3},{n}\n" for n in range(3))
    assert _key(f"day,station,rain\n{measured}", tmp_path) == ["line_day", "station"]
    with pytest.raises(TidemarkError, match=r"is unique for each record.*\n.*`--key "):
        _key("id,city\n1,x\n1,x\n1,\n", tmp_path)
    with pytest.raises(TidemarkError, match=r"no column town.*\n.*id, city"):
        _key("id,city\n1,x\n", tmp_path, "town")


def test_a_key_holds_for_all_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.2: what repeats after the sample is no key."""
    monkeypatch.setattr("python_ingest.scaffold.sampling.SAMPLE_RECORDS", 10)
    days = [f"2025-01-{1 + n // 10:02},shop {n % 10},{n % 7}\n" for n in range(100)]
    assert _key(f"day,shop,visits\n{''.join(days)}", tmp_path) == ["line_day", "shop"]


def test_patterns_take_files_that_are_sent_again(tmp_path: Path) -> None:
    """R1.1: all files of a folder that is the feed's own; elsewhere those whose names begin alike."""
    text = "id,city\n1,x\n"
    end = ".{csv,CSV}{,.gz,.bz2,.zst,.xz,.zip}"
    cases = {
        "lines/lines-2025.csv": f"*{end}",
        "inbox/lines_2025.csv": f"lines*{end}",
        "inbox/Lines 1.csv": f"Lines*{end}",
    }
    for name, pattern in cases.items():
        file = _write(tmp_path / name, text)
        assert proposed(sample_of(_no_spark, [file]), [file], file, "lines").pattern == pattern
    packed = tmp_path / "packed" / "lines_1.csv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(text.encode()))
    sample = sample_of(_no_spark, [packed])
    assert proposed(sample, [packed], packed.parent, None).pattern == f"*{end}"


def test_types_that_fit_all_values(tmp_path: Path) -> None:
    """Leading zeros are no numbers; a column of dates and one word is text."""
    header = "zip,day,at,n,d,flag,none"
    rows = ("01234,2025-01-01,2025-01-01 10:00,1,1.25,true,", "2,no,2025-01-01T10:00:00Z,-7,3,FALSE,")
    text = "\n".join((header, *rows))
    sample = sample_of(_no_spark, [_write(tmp_path / "a.csv", text)])
    assert sample.types == {
        "zip": "string",
        "day": "string",
        "at": "timestamp",
        "n": "bigint",
        "d": "decimal(18, 2)",
        "flag": "boolean",
        "none": "string",
    }


def _edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert text.count(old) == 1, (path, old)
    Path(path).write_text(text.replace(old, new))


@pytest.mark.R3
def test_a_new_column_reaches_silver_and_docs(copy: Path, spark: SparkSession, prefix: str) -> None:
    """R3.4: bronze follows by contract, silver where it is selected, and dbt's docs have it."""
    folder = copy / "data/raw/visitors"
    _write(folder / "1.csv", "visitor_id,city\n1,Ulm\n2,Bonn\n")
    add_feed(folder, None, project.load())
    declared = "models/bronze/_bronze_visitors__sources.yml"
    _edit(declared, "file_format: csv\n", "file_format: csv\n          contract: {new_column: evolve}\n")
    lakehouse = project.load()
    feed = [lakehouse.feeds["visitors"]]
    land(spark, lakehouse, feed)
    chosen = ["--select", "visitors", "--exclude-resource-type", "unit_test"]
    build_models(chosen)

    _write(folder / "2.csv", "visitor_id,city,Channel\n2,Jena,web\n3,Kiel,app\n")
    land(spark, lakehouse, feed)
    assert [wrote.said for wrote in build_models(chosen).tables] == ["1 inserted, 1 updated"]
    trimmed = "nullif(trim(city), '') as city,\n"
    _edit("macros/staging/staged_visitors.sql", trimmed, f"{trimmed}            channel,\n")
    _edit("models/silver/visitors/visitors.sql", "        city,\n", "        city,\n        channel,\n")
    contract = "models/silver/visitors/_silver_visitors__models.yml"
    column = "      - {name: channel, data_type: string, description: Where the visitor came from.}\n"
    _edit(contract, "  - name: rejected_visitors\n", f"{column}  - name: rejected_visitors\n")
    build_models(chosen)
    found = spark.table(f"{prefix}_silver.visitors").select("visitor_id", "city", "channel")
    assert sorted(map(tuple, found.collect())) == [(1, "Ulm", None), (2, "Jena", "web"), (3, "Kiel", "app")]

    project.invoke_dbt(["--quiet", "docs", "generate"])
    catalog = json.loads((copy / os.environ.get("DBT_TARGET_PATH", "target") / "catalog.json").read_text())
    assert "channel" in catalog["sources"]["source.tidemark.bronze.visitors"]["columns"]
    assert "channel" in catalog["nodes"]["model.tidemark.visitors"]["columns"]
