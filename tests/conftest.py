"""One warm Spark session on a scratch lake; each test that lands or builds has schemas of its own."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from dev.servers.programs import MissingServerError
from python_ingest.feeds.declarations import Feed, feeds_of
from python_ingest.files.landing import Lander
from python_ingest.files.outcome import LandedFiles
from tests import many_commands
from tests.night import NIGHTLY, is_night
from tests.schedule import start_longest_first
from tidemark.cli.build import build_models
from tidemark.cli.landing import land
from tidemark.engine.dbt_core import commands
from tidemark.engine.project.build import Built
from tidemark.engine.project.session import retarget, warm_session
from tidemark.lake.delta_log import DeltaLog
from tidemark.project_with_feeds import ProjectWithFeeds

ROOT = Path(__file__).resolve().parent.parent


def _where_servers_are() -> Iterator[Any]:
    """Skip a test for want of a server; fail it where the environment says that it must be there."""
    try:
        return (yield)
    except MissingServerError as missing:
        if os.environ.get("TIDEMARK_REQUIRE_SERVERS"):
            pytest.fail(f"{missing}; TIDEMARK_REQUIRE_SERVERS says that it must be there", pytrace=False)
        pytest.skip(str(missing))


pytest_fixture_setup = pytest.hookimpl(wrapper=True)(_where_servers_are)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(_where_servers_are)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on the formats of its marker `formats`: by day, at night, and in `make test` (core)."""
    marker = metafunc.definition.get_closest_marker("formats")
    if marker is None or "table_format" not in metafunc.fixturenames:
        return
    by_day, core = marker.kwargs["day"].split(), marker.kwargs.get("core", "").split()
    at_night = marker.kwargs.get("night", marker.kwargs["day"]).split()
    formats = at_night if NIGHTLY else by_day
    params = [pytest.param(name, marks=[pytest.mark.core] * (name in core)) for name in formats]
    metafunc.parametrize("table_format", params, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the warm session, before `-m` chooses: `make test` leaves most of it out; sort files."""
    start_longest_first(items)
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


# What shortens queries of a few rows, each by a tenth to a fifth of the processor time (docs/decisions/0020):
# no adaptive planning, no generated code, and Java's quick compiler alone. test_medallion generates code.
# Hadoop starts a `chmod` for each file: on Linux, VFORK takes a third of the time of Java's usual way.
FEW_ROWS = (
    "--conf spark.sql.adaptive.enabled=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN "
    "--conf spark.sql.codegen.wholeStage=false pyspark-shell"
)
VFORK = " -Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""
QUICK_COMPILER = f"-XX:TieredStopAtLevel=1{VFORK}"


@pytest.fixture(scope="session", autouse=True)
def in_root() -> None:
    """Work in the project's folder; each of several test processes has folders for what dbt writes."""
    many_commands.prepare()
    os.chdir(ROOT)
    os.environ.pop("TIDEMARK_CONNECTION_SHOP", None)  # with it the project has more feeds
    os.environ["TIDEMARK_CLASS_ARCHIVE"] = "off"  # no process goes on after a test
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "4g")  # one session sees hundreds of tables
    if not is_night("query plans"):
        os.environ.setdefault("PYSPARK_SUBMIT_ARGS", FEW_ROWS)
        os.environ.setdefault("TIDEMARK_JAVA_OPTIONS", QUICK_COMPILER)
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        os.environ["DBT_TARGET_PATH"] = f"target/{worker}"
        os.environ["DBT_LOG_PATH"] = f"logs/{worker}"


@pytest.fixture(scope="module", autouse=True)
def back_in_root() -> Iterator[None]:
    """Leave the process in the project's folder: dbt changes into the project that it is given."""
    yield
    os.chdir(ROOT)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that profiles.yml describes, on a scratch lake."""
    os.environ["TIDEMARK_LAKE"] = str(tmp_path_factory.mktemp("scratch lake"))
    commands.invoke_dbt(["--quiet", *commands.PARSE])
    session = warm_session(ROOT)
    yield session
    session.stop()


ONLY_TABLES = ("--exclude-resource-type", "test", "unit_test")  # a story runs its data tests once


@pytest.fixture
def table_format(
    request: pytest.FixtureRequest, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The format of a test's tables: Delta, or those of the test's marker `formats`."""
    chosen = getattr(request, "param", "delta")
    if chosen == "delta":
        yield chosen
        return
    monkeypatch.setenv("DBT_TARGET", chosen)
    retarget(spark, ROOT)
    yield chosen
    monkeypatch.delenv("DBT_TARGET")
    retarget(spark, ROOT)


_numbers = itertools.count(1)


@pytest.fixture
def prefix() -> str:
    """A schema prefix that no other test has, as long as any other."""
    return f"t{next(_numbers):04}"


@dataclass
class FeedFolder:
    """A feed of its own, to be landed from a folder."""

    spark: SparkSession
    feed: Feed
    folder: Path
    ops_schema: str

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def land(self) -> LandedFiles:
        return Lander(self.spark, self.feed, self.ops_schema).land()

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        """Bronze's rows, in their order as text."""
        table = self.spark.table(self.feed.table)
        return sorted((tuple(r) for r in table.selectExpr(*columns).collect()), key=str)

    def states(self) -> list[tuple[Any, ...]]:
        """The manifest's rows in the order in which they were written."""
        manifest = self.spark.table(f"{self.ops_schema}.ingested_files").orderBy("_sequence", "path")
        return [tuple(r) for r in manifest.select("path", "state", "batch_id", "row_count").collect()]

    def version(self) -> int:
        return latest_version(self.spark, self.feed.table)


MakeFeed = Callable[..., FeedFolder]


@pytest.fixture
def make_feed(spark: SparkSession, prefix: str, table_format: str, tmp_path: Path) -> MakeFeed:
    """Declare a feed `people` as dbt's manifest would; its folder is empty, and its path holds a space."""
    folder = tmp_path / "raw people"
    folder.mkdir()

    def make(columns: dict[str, str] | None = None, file_format: str = "csv", **external: Any) -> FeedFolder:
        types = columns or {"id": "string", "name": "string"}
        node = {
            "name": "people",
            "schema": f"{prefix}_bronze",
            "original_file_path": "models/bronze/_bronze__sources.yml",
            "external": {"location": str(folder), "file_format": file_format, **external},
            "columns": {name: {"name": name, "data_type": of} for name, of in types.items()},
        }
        return FeedFolder(spark, feeds_of([node])["people"], folder, f"{prefix}_ops")

    return make


@pytest.fixture
def people(make_feed: MakeFeed) -> FeedFolder:
    """A feed of CSV files with the columns `id` and `name`."""
    return make_feed(pattern="*.csv")


@dataclass
class Lakehouse:
    """The real project on schemas of its own, with a raw folder of its own."""

    spark: SparkSession
    raw: Path
    prefix: str

    def run(self, *options: str) -> Built:
        """Land everything and build, as `tidemark run` does; a failed build raises."""
        return build_models(options, self.land())

    def land(self) -> ProjectWithFeeds:
        lakehouse = ProjectWithFeeds.load()
        land(self.spark, lakehouse, list(lakehouse.feeds.values()))
        return lakehouse

    def table(self, name: str) -> Any:
        return self.spark.table(f"{self.prefix}_{name}")

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return sorted((tuple(row) for row in self.table(name).collect()), key=str)

    def versions(self, *layers: str) -> dict[str, int]:
        """The latest version of every table of bronze, silver and gold, or of these schemas."""
        found = {}
        for layer in layers or ("bronze", "silver", "gold"):
            tables = self.spark.sql(f"show tables in {self.prefix}_{layer}").where("not isTemporary")
            for row in tables.collect():
                name = f"{self.prefix}_{layer}.{row['tableName']}"
                found[name] = latest_version(self.spark, name)
        return found


def content_of(path: Path) -> str:
    """The bytes of a file as text, and the rows of Parquet and Avro, by readers that are not ours."""
    content = path.read_bytes().decode("latin-1")
    if path.suffix == ".parquet":
        content += str(pyarrow.parquet.read_table(path).to_pylist())
    elif path.suffix == ".avro":
        with path.open("rb") as file:
            content += str(list(fastavro.reader(file)))
    return content


def latest_version(spark: SparkSession, table: str) -> int:
    """The latest version of a Delta table, the present snapshot of an Iceberg table."""
    if spark.conf.get("spark.sql.sources.default") == "iceberg":
        rows = spark.table(f"{table}.refs").where("name = 'main'").select("snapshot_id").collect()
        return rows[0][0] if rows else 0
    return DeltaLog(spark, table).version


def take_back(spark: SparkSession, table: str, version: int) -> None:
    """Restore a table to one of its versions."""
    if spark.conf.get("spark.sql.sources.default") == "iceberg":
        spark.sql(f"call lakehouse.system.rollback_to_snapshot('{table}', {version})")
    else:
        spark.sql(f"restore table {table} to version as of {version}")
