"""Servers that do not answer, or not as they should."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dev.servers.programs import free_port
from tests.tidemark.operate.doctor.conftest import TODAY, messages_of
from tidemark.operate.doctor.catalog import check_catalog_server
from tidemark.operate.doctor.connections import check_connections
from tidemark.operate.doctor.finding import Level
from tidemark.operate.doctor.object_store import check_object_store
from tidemark.operate.doctor.subject import Subject


@contextmanager
def web_server(statuses: dict[str, int]) -> Iterator[str]:
    """A server of the web that answers paths with a status, and others with 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses.get(self.path, 200))
            self.end_headers()

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_object_store(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jar, half a key, the region, a bucket that is missing, and an endpoint that does not answer."""
    monkeypatch.setenv("TIDEMARK_LAKE", "s3a://lake/tables")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    Path(".jars").mkdir()
    subject = Subject(TODAY, root=here.root, locations=("s3a://raw/orders", "data/raw"))
    with web_server({"/raw": 404, "/": 403}) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        found = check_object_store(subject)
    assert found.message == f"lake, raw at {url}"
    text = "\n".join(one.message for one in found.findings)
    assert "has no hadoop-aws-….jar" in text
    assert "AWS_SECRET_ACCESS_KEY is not set, but the other half of the key is." in text
    assert "AWS_REGION is not set." in text
    assert f"There is no bucket raw at {url}." in text
    assert "bucket lake" not in text
    assert (
        f"does not answer at {url}: Connection refused." in check_object_store(subject).findings[-1].message
    )


def test_a_catalog_server(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, requires a credential, is another kind of server, and is not a URL."""
    statuses = {"/sound/v1/config?warehouse=company": 200, "/closed/v1/config": 401, "/other/v1/config": 404}
    with web_server(statuses) as url:
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/closed")
        assert "Set TIDEMARK_ICEBERG_CREDENTIAL" in messages_of(check_catalog_server(here), Level.WARNING)
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/other")
        assert "does not answer at" in messages_of(check_catalog_server(here), Level.ERROR)
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/sound/")
        monkeypatch.setenv("TIDEMARK_ICEBERG_WAREHOUSE", "company")
        assert check_catalog_server(here).findings == ()
    monkeypatch.setenv("TIDEMARK_ICEBERG_REST", "catalog:8181")
    assert "is not the URL of a catalog server" in messages_of(check_catalog_server(here), Level.ERROR)


def test_connections(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """One broker of two is a warning, none an error; a server that answers is named, without its password."""
    with web_server({}) as url:
        there, gone = url.removeprefix("http://"), f"127.0.0.1:{free_port()}"
        monkeypatch.setenv("TIDEMARK_CONNECTION_EVENTS", f"kafka://{there},{gone}")
        monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", f"postgresql://reader:s3cr3t@{there}/shop")
        found = check_connections(here)
        assert found.message == f"events at {there},{gone}, shop at {there}"
        text = messages_of(found, Level.WARNING)
        assert f"TIDEMARK_CONNECTION_EVENTS: nothing answers at {gone}: Connection refused." in text
    monkeypatch.setenv("TIDEMARK_CONNECTION_EVENTS", f"kafka://{gone}")
    monkeypatch.setenv("TIDEMARK_CONNECTION_OLD", "postgresql://reader:s3c/r3t@host/shop")
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "mysql://reader:s3cr3t@host/shop")
    text = messages_of(check_connections(here), Level.ERROR)
    assert "TIDEMARK_CONNECTION_SHOP is not the URL of a connection. Write it like postgresql://" in text
    assert "TIDEMARK_CONNECTION_OLD is not a URL of a postgresql connection." in text
    assert "s3c" not in text
