"""A person is erased: from tables, versions, logs and statistics; nothing brings the rows back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from python_ingest.land_one import LandingOptions
from python_ingest.ops.erasures import ERASURE_KEY
from tests.conftest import ONLY_TABLES, ROOT, content_of
from tests.lakehouse.conftest import FIXTURES
from tests.night import is_night
from tidemark.base.errors import TidemarkError
from tidemark.cli.erase import erase_person
from tidemark.cli.landing import land
from tidemark.engine.project.build import build
from tidemark.engine.project.nodes import table_of
from tidemark.engine.verify.verify import verify
from tidemark.lake.place import lake_folder
from tidemark.operate.erasure.erasure import erasure_of
from tidemark.operate.erasure.tables import rows_of, unmanaged_tables
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R1]
HEADER = "person_id,email,city,updated_at\n"
OF_PERSON = ("wilhelmina.quandary@example.org", "w.quandary@mail.example.org", "Nowhereville")
FILES = {
    "people_1.csv": f"42,{OF_PERSON[0]},Berlin,2025-01-01\n7,ann@example.org,Berlin,2025-01-01\n"
    "8,zoe@example.org,Rome,2025-01-01\n",
    "people_2.csv": f"42,{OF_PERSON[1]},{OF_PERSON[2]},2025-01-02\n8,zoe@example.org,Oslo,2025-01-02\n"
    f'42,"{OF_PERSON[0]},not closed\n9,"someone@example.org,42 Main Street\n',
    "people_3.csv": "7,ann@example.org,Rome,2025-01-03\n",
}
TABLES = {
    "silver.people": "person_id, email, city",
    "silver.people_history": "id_of_person, email, city, is_current",
    "silver.rejected_people": "rejection_reason, _source_file",
    "gold.people_by_city": "*",
    "gold.people_kept": "*",
    "snapshots.people_snapshot": "person_id, email, city, dbt_valid_to is null",
}
PLANNED = (
    "2 rows: rows deleted by person_id",
    "2 rows: messages and variables that quote the person removed",
    "people_1.csv, people_2.csv: files of the feed",
    "models/silver/rejected_people.sql: files of the project",
)
KILLED_AFTER = range(1, 19) if is_night("erasure") else (3,)  # steps: 3 is after bronze
BUILT = 9  # steps up to the last that deletes no earlier versions
Rows = dict[str, list[tuple[Any, ...]]]


class People:
    """The fixture project on schemas of its own."""

    def __init__(self, spark: SparkSession, raw: Path, prefix: str) -> None:
        self.spark, self.raw, self.prefix = spark, raw, prefix
        self.project = ProjectWithFeeds.load()

    def write(self, name: str, content: str) -> None:
        (self.raw / name).write_text(HEADER + content)

    def land(self, *, replays: bool = False) -> Any:
        (outcome,) = land(
            self.spark, self.project, [self.project.feeds["people"]], options=LandingOptions(replays=replays)
        )
        return outcome

    def build(self, *options: str) -> None:
        assert build([*ONLY_TABLES, *options], lambda _: None, self.project.manifest).failed == []

    def erase(self, *key: str) -> None:
        erase_person(self.spark, self.project, "people", key)

    def rows(self) -> Rows:
        found = {}
        for name, columns in TABLES.items():
            rows = self.spark.table(f"{self.prefix}_{name}").selectExpr(*columns.split(", "))
            found[name] = sorted((tuple(row) for row in rows.collect()), key=str)
        return found

    def files(self) -> Iterator[Path]:
        for path in lake_folder().rglob("*"):
            if path.is_file() and any(part.startswith(self.prefix) for part in path.parts):
                yield path

    def files_with(self, *texts: str) -> list[str]:
        """The files of the lake with a text, also in Parquet and in Avro, by readers of their own."""
        return [str(path) for path in self.files() if any(text in content_of(path) for text in texts)]


@pytest.fixture
def people(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[People]:
    """The project with three files landed one after the other, and built after the first and the last."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(tmp_path))
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    monkeypatch.setenv(ERASURE_KEY, "a secret of these tests")
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path / "target"))
    monkeypatch.setenv("DBT_LOG_PATH", str(tmp_path / "logs"))
    os.chdir(FIXTURES / "erasure")
    found = People(spark, tmp_path, prefix)
    for name, content in FILES.items():
        found.write(name, content)
        found.land()
        if name != "people_2.csv":
            found.build()
    yield found
    os.chdir(ROOT)


def quote_in_messages(people: People, message: str) -> None:
    """Let the models of all runs have failed with a message."""
    runs = people.spark.table(f"{people.prefix}_ops.runs")
    model_runs = f.transform("model_runs", lambda run: run.withField("message", f.lit(message)))
    variables = json.dumps({"who": OF_PERSON[0], "person_id": 42, "since": "2025-01-01"})
    changed = runs.withColumns({"model_runs": model_runs, "vars": f.lit(variables)})
    changed.write.mode("overwrite").saveAsTable(f"{people.prefix}_ops.runs")


def copy_people(people: People) -> None:
    """Make a failed batch and failures of a test; find a table of a deleted model, and drop it."""
    spark, silver = people.spark, f"{people.prefix}_silver.people"
    nodes = people.project.manifest.nodes.values()
    (failures,) = (table_of(node) for node in nodes if node.resource_type == "test")
    stray = f"{people.prefix}_gold.of_a_deleted_model"
    for copy in (f"{people.prefix}_audit.{silver.replace('.', '_')}", failures, stray):
        spark.sql(f"create schema if not exists {copy.partition('.')[0]}")
        spark.sql(f"create table {copy} as select * from {silver}")
    person = erasure_of(spark, people.project, people.project.feeds["people"], ["person_id=42"]).person
    found = {
        one.table: rows_of(spark, person, one) for one in unmanaged_tables(spark, people.project, person)
    }
    assert found == {f"{people.prefix}_audit.{silver.replace('.', '_')}": 1, failures: 1, stray: 1}
    spark.sql(f"drop table {stray} purge")


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_person_is_erased(
    people: People, prefix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1, R1.5: with every kind of table; landing again, replay and rebuild do not bring the rows back."""
    beginnings = [text[:16] for text in OF_PERSON[:2]] + [OF_PERSON[2]]
    copy_people(people)
    quote_in_messages(people, f"people has 2 rows of the key, one with {OF_PERSON[0]}")
    assert len(people.files_with(*beginnings)) > 10
    before = people.rows()
    assert f"city is not known: {OF_PERSON[1]}" in str(before["silver.rejected_people"])
    feed = people.project.feeds["people"]

    erase_person(people.spark, people.project, "people", ["person_id=42"], only_plan=True)
    assert people.rows() == before
    planned = capsys.readouterr().out
    assert [text for text in PLANNED if text not in planned] == []

    for steps in KILLED_AFTER:
        erasure = erasure_of(people.spark, people.project, feed, ["person_id=42"])
        assert len(list(islice(erasure.run(), steps))) == steps
    people.erase("person_id=42")
    message = capsys.readouterr().out
    assert "0 hits" in message
    are_gone = max(KILLED_AFTER) > BUILT  # then the earlier versions of bronze are deleted
    assert ("are erased already" if are_gone else "1 value of city not searched") in message

    assert people.files_with(*beginnings) == []
    runs = people.spark.table(f"{prefix}_ops.runs").where("exists(model_runs, run -> run.message = 'erased')")
    hidden = '{"person_id": "***", "since": "2025-01-01", "who": "***"}'
    assert {row["vars"] for row in runs.collect()} == {hidden}
    after = people.rows()
    assert after["silver.people"] == [row for row in before["silver.people"] if row[0] != 42]
    for kept in ("silver.people_history", "snapshots.people_snapshot"):
        assert after[kept] == [row for row in before[kept] if str(row[0]) != "42"]
    assert after["gold.people_by_city"] == [
        ("Oslo", 1, "zoe@example.org"),
        ("Rome", 1, "ann@example.org"),
    ]
    assert [row[0] for row in after["gold.people_kept"]] == [7, 8]
    assert sorted(row[0] for row in after["silver.rejected_people"]) == ["erased"] * 4
    assert all(verdict.holds for verdict in verify(people.spark, []))

    people.write("people_1.csv", FILES["people_1.csv"] + "10,new@example.org,Rome,2025-01-04\n")
    people.write("people_2.csv", FILES["people_2.csv"] + "10,new@example.org,Oslo,2025-01-05\n")
    for secret in ("", "another secret of these tests"):
        with monkeypatch.context() as patched:
            patched.setenv(ERASURE_KEY, secret)
            with pytest.raises(TidemarkError, match=ERASURE_KEY):
                people.land()
    outcome = people.land()
    assert (outcome.rows, outcome.broken, outcome.erased) == (9, 4, 4)
    assert outcome.settled is None, "bronze lost nothing"
    assert people.land(replays=True).replayed == 0
    people.build("--full-refresh")
    assert people.files_with(*beginnings) == []
    rows = people.rows()
    assert sorted(row[0] for row in rows["silver.rejected_people"]) == ["erased"] * 8
    again = rows["silver.people"]
    assert again == [(10, "new@example.org", "Oslo"), *after["silver.people"]]
    (record,) = people.spark.table(f"{people.prefix}_ops.erasures").where("state = 'finished'").collect()
    assert (record["key_columns"], record["hits"]) == (["person_id"], 0)
    counts = {one["table"].partition("_")[2]: one["rows"] for one in record["counts"]}
    assert counts["bronze.people"] == 4, "also those of killed attempts"
