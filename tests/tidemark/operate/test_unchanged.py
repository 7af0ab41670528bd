"""What a run is compared with at its start, and what keeps it from being remembered; without Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from python_ingest.feeds.declarations import Feed, feeds_of
from tidemark.operate.unchanged import last_run
from tidemark.operate.unchanged.evidence import project_code
from tidemark.operate.unchanged.files import tree
from tidemark.operate.unchanged.last_run import Watch, keep
from tidemark.operate.unchanged.obstacles import is_elsewhere, obstacles

pytestmark = [pytest.mark.R1, pytest.mark.core]


NOTE = ("warning", "a note", {"node": "people"})


class Context:
    """What is asked of Spark: its settings, and where paths without a scheme are."""

    def __init__(self, filesystem: str = "file:///", **given: str) -> None:
        self._given = {"spark.sql.warehouse.dir": "file:{lake}/warehouse"} | given
        self._filesystem = filesystem
        self._jsc = self

    def getConf(self) -> Any:
        return self

    def getAll(self) -> list[tuple[str, str]]:
        return [(name, value.format(lake=os.environ["TIDEMARK_LAKE"])) for name, value in self._given.items()]

    def hadoopConfiguration(self) -> Any:
        return {"fs.defaultFS": self._filesystem}


def session(filesystem: str = "file:///", **given: str) -> Any:
    return SimpleNamespace(sparkContext=Context(filesystem, **given))


SPARK = session()


class Small:
    """A small project with a lake of one table and a feed of one file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lake = root / "lake"
        for folder in ("models/silver", "macros", "raw/2026", "lake/warehouse/silver.db/people/_delta_log"):
            (root / folder).mkdir(parents=True)
        (self.lake / "metastore").mkdir()
        self.write("dbt_project.yml", "name: small")
        self.write("profiles.yml", "small: {target: local}")
        self.write("models/silver/people.sql", "select * from {{ source('bronze', 'people') }}")
        self.write("raw/2026/a.csv", "id\n1\n")
        self.write("lake/metastore/service.properties", "x")
        os.utime(root / "raw/2026/a.csv", (1, 1))

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    @property
    def feed(self) -> Feed:
        node = {
            "name": "people",
            "schema": "bronze",
            "original_file_path": "models/bronze.yml",
            "external": {"location": "raw", "file_format": "csv"},
            "columns": {"id": {"name": "id", "data_type": "string"}},
        }
        return feeds_of([node])["people"]

    def watch(self, **request: Any) -> Watch:
        return Watch(self.root, request)

    def run(self, node: Any = None, *, changes: bool = False) -> None:
        """Run as `tidemark run` does, with one node that may change the lake."""
        watch = self.watch()
        watch.begin(SPARK, [self.feed])
        if changes:
            self.write("lake/warehouse/silver.db/people/_delta_log/1.json", "{}")
        self.write("target/manifest.json", "{}")
        self.write("target/run_results.json", "{}")
        node = node or _node("select * from bronze.people")
        watch.end(_manifest(node), [node], [], {"feeds": 1, "tables": 1, "tests": 0}, [NOTE])
        keep()


def _node(code: str, raw: str = "select 1", *, resource_type: str = "model", **config: Any) -> Any:
    name = "model.small.people"
    return SimpleNamespace(
        unique_id=name,
        name="people",
        resource_type=resource_type,
        schema="silver",
        alias="people",
        package_name="small",
        raw_code=raw,
        compiled_code=code,
        language="sql",
        depends_on=SimpleNamespace(macros=[], nodes=[]),
        config=Config(**{"materialized": "incremental", **config}),
    )


class Config(SimpleNamespace):
    """A node's config, as dbt's."""

    def get(self, name: str) -> Any:
        return getattr(self, name, None)

    def to_dict(self, **_: Any) -> dict[str, Any]:
        return vars(self)


def _manifest(*nodes: Any) -> Any:
    source = SimpleNamespace(schema="bronze", identifier="people")
    return SimpleNamespace(
        nodes={node.unique_id: node for node in nodes},
        sources={"source.small.bronze.people": source},
        macros={},
    )


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    """A small project in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_LAKE", str(tmp_path / "lake"))
    monkeypatch.delenv("DBT_TARGET_PATH", raising=False)
    monkeypatch.setattr(last_run, "end_spark", lambda: None)  # other tests use it
    project = Small(tmp_path)
    (tmp_path / "lake/warehouse/bronze.db/people").mkdir(parents=True)
    yield project
    last_run._pending.clear()


def test_a_run_that_changed_nothing_is_repeated_by_doing_nothing(small: Small) -> None:
    """Its notes and counts are kept; other options are another run."""
    assert small.watch().repeats() is None
    small.run()
    last = small.watch().repeats()
    assert last is not None
    assert (last.counts["feeds"], last.notes) == (1, [[*NOTE]])
    assert small.watch(select=["silver"]).repeats() is None


def test_a_run_that_changed_the_lake_is_not_remembered(small: Small) -> None:
    """One more run has to find that nothing is left to do, and a run that begins forgets the last one."""
    small.run()
    small.run(changes=True)
    assert small.watch().repeats() is None
    small.run()
    assert small.watch().repeats() is not None
    small.watch().begin(SPARK, [small.feed])
    assert small.watch().repeats() is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("raw/2026/b.csv", "id\n2\n"),
        ("raw/2026/a.csv", "id\n3\n"),
        ("models/silver/people.sql", "select 2"),
        ("models/new/more.yml", "models: []"),
        ("macros/one.sql", "{% macro one() %}{% endmacro %}"),
        ("profiles.yml", "small: {target: other}"),
        ("packages.yml", "packages: []"),
        ("dbt_packages/dbt_utils/macros/a.sql", "x"),
        ("lake/warehouse/silver.db/people/_delta_log/2.json", "{}"),
        ("lake/iceberg/gold/new/metadata/v1.json", "{}"),
        ("lake/metastore/seg0/c1.dat", "a view was dropped"),
        ("lake/catalog.db", "a table of Iceberg was dropped"),
        ("target/run_results.json", "{of: another command}"),
    ],
)
def test_whatever_changes_is_seen(small: Small, path: str, text: str) -> None:
    """Files that are new, changed and removed; of feeds, of the project, of the lake, of the catalog."""
    small.run()
    was_there = (small.root / path).exists()
    small.write(path, text)
    assert small.watch().repeats() is None
    if not was_there:
        small.run()
        assert small.watch().repeats() is not None
        (small.root / path).unlink()
        assert small.watch().repeats() is None


def test_a_file_that_comes_during_a_run_is_seen(small: Small) -> None:
    """The files were listed before it came: the digest of before is kept."""
    watch = small.watch()
    watch.begin(SPARK, [small.feed])
    small.write("raw/2026/late.csv", "id\n9\n")
    node = _node("select 1")
    watch.end(_manifest(node), [node], [], {"feeds": 1}, [])
    keep()
    assert small.watch().repeats() is None


def test_a_model_that_is_edited_during_a_run_is_seen(small: Small) -> None:
    """The project's digest is of the moment before it was parsed."""
    watch = small.watch()
    small.write("models/silver/people.sql", "select 3")
    watch.begin(SPARK, [small.feed])
    node = _node("select 1")
    watch.end(_manifest(node), [node], [], {"feeds": 1}, [])
    keep()
    assert small.watch().repeats() is None


def test_variables_count_if_the_project_names_them(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of dbt and Tidemark always count; a name that is computed cannot be told."""
    small.write("macros/one.sql", "{{ env_var('COUNTRY', '') }}")
    small.run()
    monkeypatch.setenv("UNRELATED", "1")
    assert small.watch().repeats() is not None
    monkeypatch.setenv("COUNTRY", "IE")
    assert small.watch().repeats() is None
    monkeypatch.delenv("COUNTRY")
    assert small.watch().repeats() is not None
    monkeypatch.setenv("DBT_TARGET", "other")
    assert small.watch().repeats() is None
    monkeypatch.delenv("DBT_TARGET")
    small.write("models/about.md", "Names in `env_var()` are given.")
    assert project_code(small.root, small.root).is_known
    small.write("macros/one.sql", "{{ env_var(name) }}")
    assert not project_code(small.root, small.root).is_known
    small.run()
    assert small.watch().repeats() is None


def test_a_young_file_a_topic_and_a_remote_lake_are_not_remembered(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file younger than `settle` is landed later; others cannot be listed without a connection."""
    young = small.feed.model_copy(update={"external": small.feed.external.model_copy(update={"settle": 60})})
    (small.root / "raw/2026/a.csv").touch()
    watch = small.watch()
    watch.begin(SPARK, [young])
    watch.end(_manifest(), [], [], {}, [])
    keep()
    assert small.watch().repeats() is None
    small.run()
    assert small.watch().repeats() is not None
    monkeypatch.setenv("TIDEMARK_LAKE", "s3a://bucket/lake")
    small.run()
    assert small.watch().repeats() is None


def test_a_broken_record_is_no_record(small: Small) -> None:
    """It is of another version, or was cut off."""
    small.run()
    record = small.lake / last_run.FILE
    assert record.stat().st_mode & 0o777 == 0o600
    for text in ("", "{", "[]", '{"digest": "x"}'):
        record.write_text(text)
        assert small.watch().repeats() is None


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (_node("select current_date() from bronze.people", "select current_date()"), "current_date"),
        (_node("select 1", "{{ run_started_at }}"), "run_started_at"),
        (_node("select * from parquet.`/data/a.parquet`"), "reads"),
        (_node("select * from elsewhere.people"), "reads elsewhere.people"),
        (_node("select * from people"), "reads people"),
        (_node("select * from read_files('/data')"), "reads"),
        (_node("select", post_hook=["grant"]), "has hooks"),
        (_node("", pre_hook=["x"], resource_type="seed"), "has hooks"),
        (_node("select date 'yesterday'"), "yesterday"),
        (_node("select 1", "{{ current_timestamp_backcompat() }}"), "current_timestamp"),
        (_node("select current_timestamp() -- of a macro"), "current_timestamp"),
        (_node("select 1 -- current_timestamp()"), None),
        (_node("select * from prod.bronze.people"), "reads prod"),
        (_node("with people as (select * from people) select * from people"), "reads people"),
        (_node("select * from silver.a_view"), "reads silver.a_view"),
        (_node("select 1", location_root="/data"), "is not in the lake"),
        (_node("select 1", materialized="mine"), "is materialized as mine"),
        (_node("select", incremental_strategy="microbatch"), "by the clock"),
        (_node("select /*+ broadcast(b) */ b.id from bronze.people as b"), None),
        (_node("with a as (select * from bronze.people) select * from a, range(3)"), None),
        (_node("select explode(array(1)) from bronze.people lateral view explode(array(1)) t as x"), None),
    ],
)
def test_what_cannot_be_compared_is_an_obstacle(small: Small, node: Any, reason: str | None) -> None:
    """The clock, hooks, and tables and files outside the lake."""
    found = list(obstacles(_manifest(node), [node], [], small.lake))
    assert (reason in found[0]) if reason else found == []


def test_a_run_with_an_obstacle_is_not_remembered(small: Small) -> None:
    """And the one before it is forgotten."""
    small.run()
    small.run(_node("select current_date()"))
    assert small.watch().repeats() is None


def test_a_link_that_leads_to_another_file_is_seen(small: Small) -> None:
    """Of the same size and time."""
    for name in ("first.csv", "second.csv"):
        small.write(name, "id")
        os.utime(small.root / name, (1, 1))
    (small.root / "raw/one.csv").symlink_to(small.root / "first.csv")
    small.run()
    assert small.watch().repeats() is not None
    (small.root / "raw/one.csv").unlink()
    (small.root / "raw/one.csv").symlink_to(small.root / "second.csv")
    assert small.watch().repeats() is None


def test_selectors_of_earlier_runs_are_an_obstacle(small: Small) -> None:
    """`state:` and `result:` read files of an earlier run."""
    assert list(obstacles(_manifest(), [], ["state:modified+"], small.lake)) != []
    assert list(obstacles(_manifest(), [], ["tag:estate", "silver"], small.lake)) == []


def test_links_are_followed_once_and_seen(small: Small) -> None:
    """A link to the folder above, to itself, to nothing; a location that is a link and leads elsewhere."""
    seen = {tree(small.root / "raw").digest}
    links = {"around": small.root / "raw", "self.csv": Path("self.csv"), "nothing.csv": Path("missing")}
    for name, target in links.items():
        (small.root / "raw" / name).symlink_to(target)
        seen.add(tree(small.root / "raw").digest)
    assert len(seen) == 4
    (small.root / "raw").rename(small.root / "first")
    (small.root / "raw").symlink_to("first")
    small.run()
    assert small.watch().repeats() is not None
    small.write("second/b.csv", "id")
    (small.root / "raw").unlink()
    (small.root / "raw").symlink_to("second")
    assert small.watch().repeats() is None


def test_a_location_that_is_gone_is_no_empty_one(small: Small) -> None:
    """A run fails there."""
    (small.root / "raw/2026/a.csv").unlink()
    (small.root / "raw/2026").rmdir()
    small.run()
    assert small.watch().repeats() is not None
    (small.root / "raw").rmdir()
    assert small.watch().repeats() is None


def test_a_lake_behind_a_link_is_watched(small: Small) -> None:
    """Its tables change there."""
    (small.lake / "warehouse").rename(small.root / "disk")
    (small.lake / "warehouse").symlink_to(small.root / "disk")
    small.run(changes=True)
    assert small.watch().repeats() is None
    small.run()
    assert small.watch().repeats() is not None
    small.write("disk/silver.db/people/_delta_log/9.json", "{}")
    assert small.watch().repeats() is None


def test_what_another_commits_at_the_end_is_seen(small: Small) -> None:
    """While Spark ends, before the record is written."""
    watch, node = small.watch(), _node("select 1")
    watch.begin(SPARK, [small.feed])
    watch.end(_manifest(node), [node], [], {}, [])
    small.write("lake/warehouse/bronze.db/people/_delta_log/7.json", "{}")
    keep()
    assert small.watch().repeats() is None


@pytest.mark.parametrize(
    "elsewhere",
    [
        session("hdfs://name:8020"),
        session(**{"spark.hadoop.hive.metastore.uris": "thrift://host:9083"}),
        session(**{"spark.sql.warehouse.dir": "/elsewhere/warehouse"}),
        session(**{"spark.sql.catalog.lakehouse.uri": "https://host/api"}),
        session(**{"spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:postgresql://host/metastore"}),
    ],
)
def test_tables_or_catalogs_elsewhere_are_not_remembered(small: Small, elsewhere: Any) -> None:
    """As the session has them, whatever set them."""
    assert not is_elsewhere(SPARK, small.lake)
    for place in ("jdbc:derby:;databaseName={lake}/metastore;create=true", "jdbc:sqlite:{lake}/catalog.db"):
        assert not is_elsewhere(session(**{"spark.x.uri": place}), small.lake)
    assert is_elsewhere(elsewhere, small.lake)
    watch = small.watch()
    watch.begin(elsewhere, [small.feed])
    watch.end(_manifest(), [], [], {}, [])
    keep()
    assert small.watch().repeats() is None


def test_nothing_that_fails_here_stops_a_run(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is no UTF-8 is seen; a session that does not answer costs the record."""
    (small.root / "models" / os.fsdecode(b"caf\xe9.sql")).write_text("select 1")
    small.run()
    assert small.watch().repeats() is not None
    watch = small.watch()
    watch.begin(None, [small.feed])  # type: ignore[arg-type]
    watch.end(None, [], [], {}, [])
    keep()
    assert small.watch().repeats() is None
    monkeypatch.setattr(last_run.evidence, "project_code", lambda *_: 1 / 0)
    assert small.watch().repeats() is None
