"""A person is erased whom a table of a database, or a topic, may still have: the rows do not land again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from dev.servers.kafka import kafka
from dev.servers.postgresql import postgres
from python_ingest.feeds.external_topic import TopicContract
from python_ingest.ops.erasures import ERASURE_KEY
from tests.conftest import ONLY_TABLES, ROOT, content_of
from tests.lakehouse.conftest import FixtureProject
from tests.night import nightly
from tidemark.cli.erase import erase_person
from tidemark.cli.landing import land
from tidemark.engine.project.build import build
from tidemark.engine.verify.verify import verify
from tidemark.lake.place import lake_folder
from tidemark.project_with_feeds import ProjectWithFeeds

EMAILS = ("wilhelmina.quandary@example.org", "w.quandary@mail.example.org")
PERSON = "user-quandary-42"


class Sources:
    """The fixture project on schemas of its own."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self.spark, self.prefix = spark, prefix
        self.project = ProjectWithFeeds.load()

    def land(self, feed: str) -> Any:
        """Land a feed and build the models."""
        (outcome,) = land(self.spark, self.project, [self.project.feeds[feed]])
        selected = ("--select", f"source:bronze.{feed}+")
        assert build([*ONLY_TABLES, *selected], lambda _: None, self.project.manifest).failed == []
        return outcome

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        found = self.spark.table(f"{self.prefix}_{table}").selectExpr(*columns).collect()
        return sorted((tuple(row) for row in found), key=str)

    def files_with(self, *texts: str) -> list[str]:
        """The files of these schemas with a text, also in Parquet."""
        paths = [path for path in lake_folder().rglob("*") if path.is_file()]
        ours = [path for path in paths if any(part.startswith(self.prefix) for part in path.parts)]
        return [str(path) for path in ours if any(text in content_of(path) for text in texts)]


@pytest.fixture
def sources(
    spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Sources:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path / "target"))
    monkeypatch.setenv("DBT_LOG_PATH", str(tmp_path / "logs"))
    monkeypatch.setenv(ERASURE_KEY, "a secret of these tests")
    copy = FixtureProject(spark, "erasure_sources", prefix)
    copy.own_copy(tmp_path)
    monkeypatch.chdir(copy.folder)
    return Sources(spark, prefix)


@pytest.mark.R3
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_row_of_an_erased_person_does_not_land_again(
    sources: Sources, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R3.2: nor its next version, nor its deletion; those of other rows land."""
    with postgres() as server:
        monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", server.create_database("shop"))
        database = server.connect("shop")
        database.execute(
            "create table customers (customer_id bigint primary key, email text, updated_at timestamptz)"
        )
        change = (
            "insert into customers values (%s, %s, %s) on conflict (customer_id) "
            "do update set email = excluded.email, updated_at = excluded.updated_at"
        )
        for number, email in ((42, EMAILS[0]), (7, "ann@example.org"), (8, "zoe@example.org")):
            database.execute(change, [number, email, "2025-01-01"])
        sources.land("customers")
        database.execute(change, [42, EMAILS[1], "2025-01-02"])
        sources.land("customers")
        assert len(sources.files_with(*EMAILS)) > 3

        erase_person(sources.spark, sources.project, "customers", ["customer_id=42"])
        message = capsys.readouterr().out
        assert ": 0 hits" in message
        assert "public.customers may still have the person" in message
        assert sources.files_with(*(email[:16] for email in EMAILS)) == []
        assert sources.rows("silver.customers", "customer_id") == [(7,), (8,)]

        database.execute(change, [42, EMAILS[0], "2025-01-03"])
        database.execute(change, [9, "eve@example.org", "2025-01-03"])
        database.execute("delete from customers where customer_id = 7")
        outcome = sources.land("customers")
        assert (outcome.rows, outcome.deleted) == (1, 1)
        database.execute("delete from customers where customer_id = 42")
        outcome = sources.land("customers")
        assert (outcome.rows, outcome.deleted) == (0, 0)
        assert sources.rows("silver.customers", "customer_id", "_is_deleted") == [
            (7, True),
            (8, False),
            (9, False),
        ]
        assert sources.files_with(*(email[:16] for email in EMAILS)) == []
        assert all(verdict.holds for verdict in verify(sources.spark, ["customers"]))
        database.close()


@pytest.mark.R5
@nightly("erasure")
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_message_that_the_topic_still_has_keeps_its_place_alone(
    sources: Sources, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R5.1: with its key, its tombstone, and a message that cannot be decoded."""
    with kafka() as broker:
        monkeypatch.setenv("TIDEMARK_CONNECTION_STREAM", broker.url)
        topic = sources.project.feeds["clicks"].external.source
        admin = AdminClient({"bootstrap.servers": broker.servers, "log_level": 0})
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()

        def send(**messages: Any) -> None:
            producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
            for key, value in messages.items():
                message = json.dumps(value).encode() if isinstance(value, dict) else value
                producer.produce(topic, message, key.rstrip("_"))
            assert producer.flush(30) == 0

        hers = {"user_id": PERSON, "email": EMAILS[0]}
        other = {"user_id": "user-7", "email": "ann@example.org"}
        broken = f'{{"user_id": "{PERSON}", "email'.encode()
        send(click_quandary=hers, click_7=other, click_quandary_=None, click_7_=None, broken=broken)
        sources.land("clicks")
        before = sources.rows("silver.clicks", "click_id", "user_id")
        assert len(before) == 4

        erase_person(sources.spark, sources.project, "clicks", [f"user_id={PERSON}"])
        assert ": 0 hits" in capsys.readouterr().out
        left = [row for row in before if row[0] != "click_quandary"]
        assert sources.rows("silver.clicks", "click_id", "user_id") == left
        send(click_again=hers, click_8=other)
        outcome = sources.land("clicks")
        assert (outcome.messages, outcome.broken) == (2, 1)
        assert sources.rows("silver.clicks", "click_id", "user_id") == sorted(
            [*left, ("click_8", "user-7")], key=str
        )
        assert len(sources.rows("bronze.clicks", "_message_offset")) == 7
        assert sources.files_with(PERSON, "quandary", "click_again") == []
        assert all(verdict.holds for verdict in verify(sources.spark, ["clicks"]))

        clicks = sources.project.feeds["clicks"]
        external = clicks.external.model_copy(update={"contract": TopicContract(new_column="reject")})
        strict = clicks.model_copy(update={"external": external})
        send(click_more=hers | {"colour": 1}, click_9=other | {"colour": 2})
        (outcome,) = land(sources.spark, sources.project, [strict])
        assert (outcome.messages, outcome.broken) == (2, 2)
        rejected = [row[0] for row in sources.rows("ops.rejected_records", "raw_record")]
        assert json.dumps(other | {"colour": 2}) in rejected
        assert sources.files_with(PERSON, "quandary", "click_more") == []
