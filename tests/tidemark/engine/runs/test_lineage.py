"""OpenLineage events of runs and landings; off unless the environment names a place for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("openlineage.client", reason="needs the extra `lineage`")

from openlineage.client.naming.dataset import LocalFileSystem

from python_ingest.feeds.declarations import Feed, feeds_of
from tests.conftest import ROOT, MakeFeed
from tests.lakehouse.conftest import Guarded, guarded  # noqa: F401  # a fixture
from tidemark.base.errors import LandingError
from tidemark.cli.landing import land
from tidemark.engine.runs.lineage.datasets import Tables, name_of
from tidemark.engine.runs.lineage.events import Done
from tidemark.engine.runs.lineage.sending import is_on, send, without_user
from tidemark.operate.lineage.events import landing_events, source_of
from tidemark.project_with_feeds import ProjectWithFeeds

AT = datetime(2025, 1, 31, 4, tzinfo=UTC)


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which the client writes one event a line."""
    file = tmp_path / "events.ndjson"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(file))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    return file


def written(file: Path) -> list[dict[str, Any]]:
    """The events in a file, each with what the specification requires; the file is emptied."""
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    file.write_text("")
    for event in found:
        assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
        assert event["schemaURL"].startswith("https://openlineage.io/spec/")
        assert event["producer"] == "https://pypi.org/project/dbt-tidemark"
        UUID(event["run"]["runId"])
        parts = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        facets = [
            named
            for part in parts
            for of_part in ("facets", "outputFacets")
            for named in part.get(of_part, {}).items()
        ]
        assert [name for name, _ in facets if name != "tags"]  # the client's, with its version
        for name, facet in facets:
            assert (facet["_producer"] == event["producer"]) is (name != "tags")
            assert facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")
    return found


def of(found: list[dict[str, Any]], job: str) -> list[dict[str, Any]]:
    return [event for event in found if event["job"]["name"].endswith(job)]


@pytest.mark.R2
def test_a_run_says_what_its_models_read_and_wrote(guarded: Guarded, events: Path) -> None:  # noqa: F811
    """R2.1: START and COMPLETE, or FAIL with the message; a run with nothing new sends nothing."""
    guarded.insert("(1, 5), (2, 7)")
    guarded.messages("guarded", "totals")
    found = written(events)
    command = of(found, ".dbt_run")
    assert [event["eventType"] for event in command] == ["START", "COMPLETE"]
    model = of(found, guarded.table("totals"))
    assert [event["eventType"] for event in model] == ["START", "COMPLETE"]
    assert model[0]["run"]["facets"]["parent"]["run"]["runId"] == command[0]["run"]["runId"]
    (read,), (wrote,) = model[1]["inputs"], model[1]["outputs"]
    assert read["name"].endswith(guarded.table("guarded").replace(".", ".db/"))
    assert (read["namespace"], read["facets"]["symlinks"]["identifiers"][0]["name"]) == (
        LocalFileSystem("/").get_namespace(),
        guarded.table("guarded"),
    )
    assert wrote["outputFacets"]["outputStatistics"]["rowCount"] == 2
    (first,) = of(found, guarded.table("guarded"))[1]["inputs"]
    (schema,) = (output["facets"]["schema"] for output in of(found, guarded.table("guarded"))[1]["outputs"])
    assert first["facets"]["symlinks"]["identifiers"][0]["name"] == guarded.input
    assert [field["name"] for field in schema["fields"]] == ["id", "amount"]
    guarded.messages("guarded", "totals")
    assert written(events) == []
    guarded.insert("(3, -1)")
    assert guarded.run("guarded")
    found = written(events)
    assert [event["eventType"] for event in of(found, ".dbt_run")] == ["START", "FAIL"]
    failed = of(found, guarded.table("guarded"))[1]
    assert "amount_positive" in failed["run"]["facets"]["errorMessage"]["message"]
    assert "outputStatistics" not in failed["outputs"][0].get("outputFacets", {})


@pytest.mark.R1
def test_a_landing_says_where_its_rows_come_from(make_feed: MakeFeed, events: Path) -> None:
    """R1.1: the folder of a feed, the bronze table with its columns, and the number of rows."""
    people = make_feed(pattern="*.csv")
    people.write("1.csv", "id,name\n1,Ann\n2,Bob\n")
    project = ProjectWithFeeds(ROOT, people.ops_schema, feeds={"people": people.feed})
    land(people.spark, project, [people.feed])
    start, done = written(events)
    assert (start["eventType"], done["eventType"], done["job"]["name"]) == (
        "START",
        "COMPLETE",
        f"{ROOT.name}.land.people",
    )
    assert done["inputs"][0]["name"] == str(people.folder)
    assert done["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
    land(people.spark, project, [people.feed])
    assert written(events) == []
    people.folder.rename(people.folder.with_name("elsewhere"))
    with pytest.raises(LandingError):
        land(people.spark, project, [people.feed])
    assert [event["eventType"] for event in written(events)] == ["START", "FAIL"]


class Server(ThreadingHTTPServer):
    """A lineage server that keeps what it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, dict[str, Any]]] = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, json.loads(body)))  # type: ignore[attr-defined]
        self.send_response(201)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    served = Server()
    threading.Thread(target=served.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{served.server_port}")
    yield served
    served.shutdown()
    served.server_close()


@pytest.fixture
def feed() -> Feed:
    node = {
        "name": "people",
        "schema": "bronze",
        "original_file_path": "models/bronze/_bronze__sources.yml",
        "external": {"location": "s3a://raw/people", "file_format": "csv", "pattern": "*.csv"},
        "columns": {"id": {"name": "id", "data_type": "string"}},
    }
    return feeds_of([node])["people"]


@pytest.mark.R4
def test_events_go_to_a_server_and_a_lost_one_is_one_warning(
    server: Server, feed: Feed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R4.5: what the events tell about is done; no server changes its outcome, and no password is shown."""
    tables = Tables(lambda table: f"s3a://lake/warehouse/{table}")
    send(lambda: landing_events("shop", feed, Done(AT, AT), tables, 3))
    assert [path for path, _ in server.got] == ["/api/v1/lineage"] * 2
    _, event = server.got[1]
    names = [(data["namespace"], data["name"]) for data in (*event["inputs"], *event["outputs"])]
    assert names == [("s3://raw", "people"), ("s3://lake", "warehouse/bronze.people")]
    assert capsys.readouterr().out == ""

    monkeypatch.setenv("OPENLINEAGE_URL", "http://me:secret@127.0.0.1:1")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", "http://me:secret@127.0.0.1:1")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__RETRY__TOTAL", "0")
    send(lambda: landing_events("shop", feed, Done(AT, AT), tables, 3))
    message = capsys.readouterr().out
    assert message.count("lineage was not sent") == 1
    assert "secret" not in message


def test_lineage_is_off_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client itself would print to the console."""
    assert not is_on()
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:5000")
    assert is_on()
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert not is_on()


def test_sources_are_named_by_the_specification(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders, buckets, tables and topics, without a user."""
    assert name_of("file:/lake/a%20b") == ("file", "/lake/a b")
    assert source_of(feed) == ("s3://raw", "people")
    columns = {"id": {"name": "id", "data_type": "string"}}
    external = {"connector": "postgresql", "connection": "shop", "table": "public.people", "key": "id"}
    topic = {"connector": "kafka", "connection": "bus", "topic": "people", "value_format": "json"}
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "postgresql://me:secret@db:5433/shop")
    monkeypatch.setenv("TIDEMARK_CONNECTION_BUS", "kafka://broker:9092,other:9092")
    for block, expected in (
        (external, ("postgres://db:5433", "shop.public.people")),
        (topic, ("kafka://broker:9092", "people")),
    ):
        node = {"name": "people", "schema": "bronze", "original_file_path": "s.yml", "external": block}
        assert source_of(feeds_of([{**node, "columns": columns}])["people"]) == expected
    assert without_user("fatal: https://me:token@host/a.git") == "fatal: https://host/a.git"
