"""`tidemark add`: from sample files to a feed and a silver model that lint and build as they are."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fastavro
import pytest
import yaml
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.night import nightly
from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.cli.add import add_feed
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land
from tidemark.engine.dbt_core import commands
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.scaffold.conversation import notes_of
from tidemark.scaffold.declaring import models_yml, sources_yml, staging_yml
from tidemark.scaffold.feed import proposed
from tidemark.scaffold.project import write_project
from tidemark.scaffold.sampling import Sample, sample_of
from tidemark.scaffold.typed_sample import Dates, typed_sample
from tidemark.scaffold.unit_tests import silver_tests

pytestmark = pytest.mark.R1

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
def new_project(
    tmp_path: Path, spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A new project on schemas of its own, which is the current folder."""
    folder = tmp_path / "a new project"
    folder.mkdir()
    os.chdir(folder)
    write_project("tidemark")
    (folder / ".jars").symlink_to(ROOT / ".jars")
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(folder / "data/raw"))
    yield folder
    os.chdir(ROOT)


def _no_spark() -> SparkSession:
    pytest.fail("CSV needs no Spark")


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.R5
def test_what_is_written_lands_builds_and_lints(new_project: Path, spark: SparkSession, prefix: str) -> None:
    """R1.1-R1.4, R5.1: odd names and types, nested ones; each with rules, tests, a unit test."""
    invoices = _write(new_project / "data/raw/invoices/invoices_2025-01-01.csv", INVOICES).parent
    _write(new_project / "data/raw/parcels/p.jsonl", PARCELS)
    (new_project / "data/raw/readings").mkdir()
    with (new_project / "data/raw/readings/1.avro").open("wb") as stream:
        fastavro.writer(
            stream, READING, [{"device_id": "d1", "at": 1735725600000, "place": {"room": "hall"}}]
        )
    stops = spark.sql(
        "select 1L as `Stop Id`, cast(2.5 as decimal(5, 1)) as metres, array(struct(1 as n)) as l"
    )
    stops.write.parquet(str(new_project / "data/raw/stops"))
    for name in ("invoices", "parcels/p.jsonl", "readings", "stops"):
        add_feed(new_project / "data/raw" / name, None, ProjectWithFeeds.load())
    bites = _write(new_project / "data/raw/bites/1.csv", "Species,Where\ncat,Bonn\ncat,Bonn\ndog,\n").parent
    add_feed(bites, None, ProjectWithFeeds.load(), None)
    lakehouse = ProjectWithFeeds.load()
    with pytest.raises(TidemarkError, match="The feed 'invoices' already exists"):
        add_feed(invoices, None, lakehouse)

    header, *_ = INVOICES.splitlines()
    _write(invoices / "invoices_2025-01-02.csv", f"{header}\nx;2025-01-03;d;1;1;;2025-01-03T12:00:00Z\n")
    feeds = ("invoices", "parcels", "readings", "stops", "bites")
    land(spark, lakehouse, [lakehouse.feeds[name] for name in feeds])
    built = build_models(["--select", *(f"source:bronze.{name}+" for name in feeds)])
    assert {wrote.table.removeprefix(f"{prefix}_"): wrote.message for wrote in built.tables} == {
        "gold.invoices_per_day": "2 inserted",
        "gold.readings_per_day": "1 inserted",
        "silver.bites": "3 inserted",
        "silver.rejected_bites": "no change",
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
        (1, "10.500000000", "01234", None),
        (2, "7.000000000", "53111", 'it\'s "big"'),
        (3, "8.250000000", "53111", "paid"),
    ]
    (rejected,) = spark.table(f"{prefix}_silver.rejected_invoices").collect()
    assert rejected["rejection_reason"] == "invoice_id is not a whole number"
    assert spark.table(f"{prefix}_silver.parcels").where("parcel_to.zip = 53111").count() == 1
    assert spark.table(f"{prefix}_silver.readings").where("place.room = 'hall'").count() == 1
    assert spark.table(f"{prefix}_silver.stops").where("stop_id = 1 and metres = 2.5").count() == 1

    bites.joinpath("1.csv").write_text("Species,Where\ncat,Ulm\n")  # which of its records would it replace?
    with pytest.raises(TidemarkError, match=r"1\.csv has changed since it was landed"):
        land(spark, lakehouse, [lakehouse.feeds["bites"]])

    linter = Path(sys.executable).parent / "sqlfluff"
    written = [f"models/{layer}/{name}" for layer in ("staging", "silver") for name in feeds]
    lint = [str(linter), "lint", *written]
    variables = os.environ | {"TIDEMARK_LAKE": str(new_project / "lake-lint")}
    done = subprocess.run(lint, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_files_with_too_few_records_are_refused(new_project: Path, spark: SparkSession) -> None:
    """Each error says what is missing, and what to do."""
    cases = {
        "picture.png": ("x", "the file name does not show the format"),
        "empty.csv": ("", "empty.csv is empty"),
        "twice.csv": ("a,A\n1,2\n", "the same name twice: 'a', 'A'"),
        "broken.json": ('{"a": ', "no complete JSON object"),
        "sparse.csv": ("a,b\n1,\n,2\n", r"is unique for each record.*(?s:.*)`--key "),
        "jinja.csv": ("id,{{ env_var('HOME') }}\n1,2\n", "would be Jinja in dbt"),
    }
    for name, (text, message) in cases.items():
        with pytest.raises(TidemarkError, match=message):
            add_feed(_write(new_project / "some" / name, text), "some_feed", ProjectWithFeeds.load())
    with pytest.raises(TidemarkError, match="There are no files"):
        add_feed(new_project / "nowhere", None, ProjectWithFeeds.load())
    assert not (new_project / "models/staging/some_feed/stg_some_feed.sql").exists()
    with pytest.raises(TidemarkError, match="The feed 'orders' already exists: models/bronze/_bronze_orders"):
        add_feed(_write(new_project / "some" / "orders.csv", "id,a\n1,2\n"), None, ProjectWithFeeds.load())


@pytest.mark.R5
@nightly("wide files")
def test_wide_files_build(new_project: Path, spark: SparkSession, prefix: str) -> None:
    """R1.2, R5.1: 20 and 60 columns with a rule on each are planned in seconds, not in minutes."""
    widths = {"gauges": 20, "probes": 60}
    for name, width in widths.items():
        header = ",".join(["id", *(f"value_{number}" for number in range(1, width))])
        rows = [
            ",".join([str(row), *(f"{row}.5" if row else "" for _ in range(1, width))]) for row in range(9)
        ]
        _write(new_project / f"data/raw/{name}/{name}_1.csv", "\n".join((header, *rows)))
        add_feed(new_project / "data/raw" / name, None, ProjectWithFeeds.load())
        broken = ",".join(["9", *["x"] * (width - 1)])
        _write(new_project / f"data/raw/{name}/{name}_2.csv", f"{header}\n{broken}\n")
    lakehouse = ProjectWithFeeds.load()
    land(spark, lakehouse, [lakehouse.feeds[name] for name in widths])
    rejected = [f"rejected_{name}" for name in widths]
    built = build_models([*DATA_ONLY, "--select", *widths, *rejected])
    messages = {wrote.table.removeprefix(f"{prefix}_silver."): wrote.message for wrote in built.tables}
    assert messages == dict.fromkeys(widths, "9 inserted") | dict.fromkeys(rejected, "1 inserted")
    assert max(wrote.seconds for wrote in built.tables) < 60


VISITS = ["zip, yes, off, price, seen, updated_at, note"]
VISITS += [
    "90210, 5, a, 2.5, 2024-01-01 10:00:00, 9/30/2024 10:00, x\u2028y",
    "10001, 6, b, 4, 2024-01-02 11:00:00, 9/30/2024 11:00, a\x0bb",
    "2134, 7, a, 3.5, 2024-01-02 12:00:00, 9/3/2024 12:00, NA",
]
LATER = [
    "90210, 5, a, 2.25, 2024-06-05 10:00:00 Europe/Paris, 10/1/2024 09:00, closed",  # less as text
    "10001, 6, b, 9, 2024-01-02 11:00:00, 9/29/2024 11:00, late",
    "02134, 9, c, 1, 2024-06-05 10:00:00, 10/1/2024 09:00, x",
    "501, 9, c, 3.125, 2024-06-05, 10/1/2024 09:00, x",
    "502, 9, c, 1.250, 2024-06-05T10:00:00+05:30, 10/1/2024 09:00, x",
    "503, 9, c, 1e2, 08:15:00, 10/1/2024 09:00, x",
    "504, 9, c, +1.25, 2024, 10/1/2024 09:00, x",
    "505, 9, c, 1, 2024-06-05 10:00:00, 30/9/2024 09:00, x",
    "506, NA, c, .5, 2024-06-05 10:00:00, 10/1/2024 09:00, x",
]
EVENTS = """{"id": 1, "n": 5, "place": {"zip": 1}, "at": "x", "updated_at": "2024-01-01T10:00:00+02:00"}
{"id": 2, "place": {"zip": 2}, "at": "y", "updated_at": "2024-01-01T10:00:00-05:00"}
"""
LATER_EVENTS = """{"id": 1, "n": 6, "place": {"zip": 1}, "at": "late", "updated_at": "2024-01-01T09:30+00:00"}
{"id": 300, "n": 7.5, "place": {"zip": 1}, "at": "z", "updated_at": "2024-01-01T09:30:00Z"}
{"id": 301, "n": 7, "place": {"zip": "x"}, "at": "z", "updated_at": "2024-01-01T09:30:00Z"}
{"id": 302, "n": 7, "place": {"zip": 3}, "at": "z", "updated_at": "noon"}
"""
BY_KIND = """{{ config(unique_key='kind') }}

select visit_off as kind, count(*) as visit_count, sum(price) as price
from {{ ref('visits') }}
group by visit_off
"""


def test_later_files_with_what_the_sample_did_not_show(
    new_project: Path, spark: SparkSession, prefix: str
) -> None:
    """R1.2, R1.4: each value is right in silver or rejected with the reason; a gold model needs no YAML."""
    visits, events = new_project / "data/raw/visits", new_project / "data/raw/events"
    _write(visits / "1.csv", "\n".join(VISITS))
    _write(events / "1.jsonl", EVENTS)
    for folder in (visits, events):
        add_feed(folder, None, ProjectWithFeeds.load())
    _write(visits / "2.csv", "\n".join([VISITS[0], *LATER]))
    _write(events / "2.jsonl", LATER_EVENTS)
    _write(new_project / "models/gold/visits/visits_by_kind.sql", BY_KIND)
    lakehouse = ProjectWithFeeds.load()
    land(spark, lakehouse, [lakehouse.feeds[name] for name in ("visits", "events")])
    build_models(["--select", "source:bronze.visits+", "source:bronze.events+"])

    found = spark.table(f"{prefix}_silver.visits").selectExpr(
        "zip", "price + 0.0d", "cast(seen as string)", "note"
    )
    assert sorted(map(tuple, found.collect())) == [
        (501, 3.125, "2024-06-05 00:00:00", "x"),
        (502, 1.25, "2024-06-05 04:30:00", "x"),
        (2134, 3.5, "2024-01-02 12:00:00", "NA"),
        (10001, 4.0, "2024-01-02 11:00:00", "a\x0bb"),
        (90210, 2.25, "2024-06-05 08:00:00", "closed"),
    ]
    rejected = spark.table(f"{prefix}_silver.rejected_visits")
    assert sorted(
        (json.loads(row["raw_record"])["zip"].strip(), row["rejection_reason"]) for row in rejected.collect()
    ) == [
        ("02134", "zip is not a whole number"),
        ("503", "seen is not a time (yyyy-MM-ddTHH:mm:ss)"),
        ("504", "seen is not a time (yyyy-MM-ddTHH:mm:ss)"),
        ("505", "updated_at is not a time (M/d/yyyy H:mm:ss)"),
        ("506", "yes is missing"),
    ]
    by_kind = spark.table(f"{prefix}_gold.visits_by_kind").selectExpr("kind", "visit_count", "price + 0.0d")
    assert sorted(map(tuple, by_kind.collect())) == [("a", 2, 5.75), ("b", 1, 4.0), ("c", 2, 4.375)]
    kept = spark.table(f"{prefix}_silver.events").selectExpr("id", "event_at", "cast(updated_at as string)")
    assert sorted(map(tuple, kept.collect())) == [
        (1, "late", "2024-01-01 09:30:00"),
        (2, "y", "2024-01-01 15:00:00"),
    ]
    reasons = spark.table(f"{prefix}_silver.rejected_events").select("rejection_reason").collect()
    assert sorted(row[0] for row in reasons) == [
        "n is not a whole number: 7.5",
        "place.zip is not a whole number: x",
        "updated_at is not a time (yyyy-MM-ddTHH:mm:ss)",
    ]


@pytest.mark.core
def test_names_and_values_of_all_kinds_are_yaml(tmp_path: Path) -> None:
    """R1.2: names such as `yes`, control characters and line breaks come back from the YAML as they are."""
    names = [
        "id",
        "yes",
        "no ",
        "on",
        "null",
        "~",
        "1e3",
        "a: b",
        "- x",
        "#c",
        "q'\"",
        "x\x00y",
        "l\u2028s",
        "\u00e9\u6570",
        "%",
    ]
    values = [
        "1",
        "a\x00b",
        "a\u2028b",
        "a\x85b",
        "a\\b",
        "a\x1b",
        "\ud800",
        "*x",
        "&y",
        "{{ z }}",
        "'",
        "yes",
        "[",
        "|",
        "x" * 999,
    ]
    sample = Sample(
        "csv", {"delimiter": "\t"}, dict.fromkeys(names, "string"), [dict(zip(names, values, strict=True))]
    )
    feed = proposed(sample, [tmp_path / "odds.csv"], tmp_path / "odds.csv", None)
    (source,) = yaml.safe_load(sources_yml(feed))["sources"]
    (table,) = source["tables"]
    fields = [
        column.get("config", {}).get("meta", {}).get("field", column["name"]) for column in table["columns"]
    ]
    assert fields[: len(names)] == names
    assert table["external"]["options"] == {"delimiter": "\t"}
    models = yaml.safe_load(models_yml(feed))
    (expected,) = models["unit_tests"][0]["expect"]["rows"]
    assert expected["id"] == 1
    for declared in (models, yaml.safe_load(staging_yml(feed))):
        rows = declared["unit_tests"][0]["given"][0]["rows"]
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x85\u2028\ud800-\udfff]|\{[{%#]", rows)


def test_a_feed_is_written_completely_or_not_at_all(
    new_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.2: names are free in the whole project; if dbt cannot read the files, none of them stays."""
    folder = _write(new_project / "data/raw/daily_orders/1.csv", "id,v\n1,a\n2,b\n").parent
    lakehouse = ProjectWithFeeds.load()
    before = sorted(new_project.rglob("*"))
    with pytest.raises(
        TidemarkError, match=r"already has a model 'daily_orders': models/gold/.*\n.*`--name`"
    ):
        add_feed(folder, None, lakehouse)

    def fails(*, silent: bool) -> None:
        assert silent
        assert Path("models/staging/sales_of_days/stg_sales_of_days.sql").exists()
        raise TidemarkError("dbt parse failed", "Read its messages.")

    monkeypatch.setattr("tidemark.scaffold.writing.ProjectWithFeeds.load", fails)
    with pytest.raises(
        TidemarkError, match=r"cannot read the project.*dbt parse failed\n.*Nothing was written"
    ):
        add_feed(folder, "sales_of_days", lakehouse)
    assert sorted(new_project.rglob("*")) == before


FLIGHTS = """year,carrier,flight,dep_time,tailnum,time_hour,name
2013,UA,1,517,N1,2013-01-01 05:00:00,x
2013,UA,2,NA,NA,2013-01-01 05:00:00,x
2013,AA,1,n/a,N2,2013-01-01 05:00:00,x
2013,UA,1,NULL,N3,2013-01-01 06:00:00,x
"""


def test_detected_options_are_printed(new_project: Path, spark: SparkSession, prefix: str) -> None:
    """R1.2, R1.4: words for NULL among numbers, a key of several columns, a column renamed, re-sent names."""
    flights = _write(new_project / "data/raw/flights/flights_2013.csv", FLIGHTS)
    with output.console.capture() as printed:
        add_feed(flights, None, ProjectWithFeeds.load())
    message = printed.get()
    assert "renamed year to flight_year (an SQL keyword)" in message
    assert (
        "null empty, NA, NULL, - and 11 other words (in stg_flights.sql) are NULL in columns that" in message
    )
    assert "text NA stays text in tailnum; `as_text('tailnum', nulls=['', 'NA'])` makes it NULL" in message
    assert "key time_hour, carrier, flight: silver keeps the last landed row of each; use `--key`" in message

    for name in ("flights_2013 (1).csv", "re-sent flights.csv"):
        shutil.copy(flights, flights.parent / name)
    _write(
        flights.parent / "late.csv",
        "\n".join((FLIGHTS.splitlines()[0], "2013,B6,9,late,N9,2013-01-01 05:00:00,x")),
    )
    lakehouse = ProjectWithFeeds.load()
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


def test_keys_identify_records(tmp_path: Path) -> None:
    """R1.2: no key repeats in the files, unless a column says which version is the newest."""
    lines = "order_id,product_code,quantity,price\n1,a,2,3\n1,b,1,4\n2,a,5,3\n2,a,5,3\n"
    assert _key(lines, tmp_path) == ["order_id", "product_code"]
    assert _key(lines, tmp_path, "price", "order_id") == ["price", "order_id"]
    assert _key("zip,seen\n90210,2025-01-01\n2134,2025-01-02\n", tmp_path) == ["zip"]
    assert _key("line_id,city\n1,x\n1,x\n2,x\n", tmp_path) == ["line_id"]  # a record sent twice
    versions = "line_id,city,updated_at\n1,x,2025-01-01T00:00:00\n1,y,2025-01-02T00:00:00\n"
    assert _key(versions, tmp_path) == ["line_id"]
    measured = "".join(f"2025-01-01,s{n % 3},{n}\n2025-01-02,s{n % 3},{n}\n" for n in range(3))
    assert _key(f"day,station,rain\n{measured}", tmp_path) == ["line_day", "station"]
    with pytest.raises(TidemarkError, match=r"is unique for each record.*\n.*`--key .*`--no-key`"):
        _key("id,city\n1,x\n1,x\n1,\n", tmp_path)
    with pytest.raises(TidemarkError, match=r"no column town.*\n.*id, city"):
        _key("id,city\n1,x\n", tmp_path, "town")


@pytest.mark.R4
def test_unit_tests_of_rows_without_text_and_whole_numbers(tmp_path: Path) -> None:
    """R4.3: expected rows have a column even if none of the file's has the same value in silver."""
    file = tmp_path / "climate.csv"
    file.write_text("Time,Temp\n2026-01-01 10:00:00,1.5\n2026-01-01 11:00:00,2.5\n")
    sample = sample_of(_no_spark, [file])
    expected = {
        "": [{"_versions": 2}],
        "none": [{"_batch_id": 1, "_row_number": 0}, {"_batch_id": 2, "_row_number": 1}],
    }
    for key, rows in expected.items():
        feed = proposed(sample, [file], file, None, None if key else ())
        assert feed.is_guess != bool(key)
        assert silver_tests(feed)[0]["expect"]["rows"] == rows
        notes = [message for event, message in notes_of(feed, None) if event == "key"]
        assert [note.partition(":")[0] for note in notes] == (
            ["none"] if key else ["climate_time", "a guess from 2 records"]
        )
    chosen = proposed(sample, [file], file, None, ["Time"])
    assert "a guess" not in str(notes_of(chosen, None))


def test_a_key_holds_for_all_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.2: columns with repeated values after the sample are not a key."""
    monkeypatch.setattr("tidemark.scaffold.sampling.SAMPLE_RECORDS", 10)
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
    assert typed_sample(sample, Dates()).sample.types == {
        "zip": "string",
        "day": "string",
        "at": "timestamp",
        "n": "bigint",
        "d": "decimal(28, 9)",
        "flag": "boolean",
        "none": "string",
    }


def _edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert text.count(old) == 1, (path, old)
    Path(path).write_text(text.replace(old, new))


@pytest.mark.R3
def test_a_new_column_reaches_silver_and_docs(new_project: Path, spark: SparkSession, prefix: str) -> None:
    """R3.4: bronze follows by contract, silver where it is selected, and dbt's docs have it."""
    folder = new_project / "data/raw/visitors"
    _write(folder / "1.csv", "visitor_id,city\n1,Ulm\n2,Bonn\n")
    add_feed(folder, None, ProjectWithFeeds.load())
    declared = "models/bronze/_bronze_visitors__sources.yml"
    _edit(declared, "file_format: csv\n", "file_format: csv\n          contract: {new_column: evolve}\n")
    lakehouse = ProjectWithFeeds.load()
    feed = [lakehouse.feeds["visitors"]]
    land(spark, lakehouse, feed)
    chosen = ["--select", "visitors", "--exclude-resource-type", "unit_test"]
    build_models(chosen)

    _write(folder / "2.csv", "visitor_id,city,Channel\n2,Jena,web\n3,Kiel,app\n")
    land(spark, lakehouse, feed)
    assert [wrote.message for wrote in build_models(chosen).tables] == ["1 inserted, 1 updated"]
    trimmed = "{{ as_text('city') }} as city,\n"
    _edit("models/staging/visitors/stg_visitors.sql", trimmed, f"{trimmed}        channel,\n")
    _edit("models/silver/visitors/visitors.sql", "        city,\n", "        city,\n        channel,\n")
    contract = "models/silver/visitors/_silver_visitors__models.yml"
    column = "      - {name: channel, data_type: string, description: Where the visitor came from.}\n"
    _edit(contract, "  - name: rejected_visitors\n", f"{column}  - name: rejected_visitors\n")
    build_models(chosen)
    found = spark.table(f"{prefix}_silver.visitors").select("visitor_id", "city", "channel")
    assert sorted(map(tuple, found.collect())) == [(1, "Ulm", None), (2, "Jena", "web"), (3, "Kiel", "app")]

    commands.invoke_dbt(["--quiet", "docs", "generate"])
    catalog = json.loads(
        (new_project / os.environ.get("DBT_TARGET_PATH", "target") / "catalog.json").read_text()
    )
    assert "channel" in catalog["sources"]["source.tidemark.bronze.visitors"]["columns"]
    assert "channel" in catalog["nodes"]["model.tidemark.visitors"]["columns"]
