"""`tidemark doctor`: real broken situations, each with its level and its fix. Spark does not start."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import dbt.adapters
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from python_ingest.cli import app
from python_ingest.console.output import output
from python_ingest.doctor import checks, jars, java, place
from python_ingest.doctor.catalog import DERBY_LOCK, check_catalog, check_catalog_server
from python_ingest.doctor.connections import check_connections, check_server
from python_ingest.doctor.file_system import check_file_system, mounted
from python_ingest.doctor.finding import Checked, Level
from python_ingest.doctor.limits import check_limits
from python_ingest.doctor.object_store import check_object_store
from python_ingest.doctor.packages import check_packages
from python_ingest.doctor.project import open_project
from python_ingest.doctor.subject import Subject
from python_ingest.doctor.support import AHEAD, check_support, present_versions, supported
from python_ingest.errors import TidemarkError, did_you_mean
from python_ingest.feeds.declarations import choose
from python_ingest.lake import maintenance
from python_ingest.project import load
from python_ingest.project.selection import selected_feeds
from python_ingest.servers.common import free_port
from tests.conftest import ROOT

TODAY = date(2026, 11, 1)
TARGETS = """
shop:
  target: local
  outputs:
    local: {type: tidemark, method: session, schema: default}
    served: {type: tidemark, method: session, schema: default, embedded_target: locl,
      server_side_parameters: {spark.remote: "sc://127.0.0.1:1"}}
    other: {type: spark, method: session, host: localhost, schema: default}
    secret: {type: tidemark, method: session, schema: "{{ env_var('TIDEMARK_NOT_SET') }}"}
"""
FEEDS = """
sources:
  - name: bronze
    schema: bronze
    tables:
      - name: bills
        external: {location: data/raw/bills, file_format: csv}
        columns: [{name: id, data_type: string}]
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine; Java is asked anew."""
    for name in list(os.environ):
        kept = name in ("DBT_TARGET_PATH", "DBT_LOG_PATH")  # of each test process
        if name.startswith(("TIDEMARK_", "AWS_", "SPARK_", "DBT_", "JAVA_TOOL", "_JAVA")) and not kept:
            monkeypatch.delenv(name)
    java.properties.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dbt project, as the current folder."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "orders.sql").write_text("select 1 as id")
    (tmp_path / "models" / "feeds.yml").write_text(FEEDS)
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (tmp_path / "profiles.yml").write_text(TARGETS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def here(folder: Path) -> Subject:
    """The project, not opened."""
    return Subject(TODAY, root=folder)


def said(checked: Checked, level: Level) -> str:
    """What a check found, all of one level, with the fixes."""
    assert checked.findings
    assert {finding.level for finding in checked.findings} == {level}
    assert all(finding.said and finding.fix.endswith(".") for finding in checked.findings)
    return "\n".join(f"{finding.said} {finding.fix}" for finding in checked.findings)


# the command


@pytest.fixture
def as_json() -> Iterator[None]:
    yield
    output.as_json = False


def test_this_installation_is_sound(monkeypatch: pytest.MonkeyPatch, as_json: None) -> None:
    """All checks run on the project of this repository; none reports an error, and Spark does not start."""
    monkeypatch.chdir(ROOT / "models")
    with output.console.capture() as printed:
        done = CliRunner().invoke(app, ["--log-format", "json", "doctor", "--skip", "support"])
    lines = [json.loads(line) for line in (printed.get() + done.output).splitlines()]
    *results, end = lines
    assert [line["name"] for line in results] == [name for name in checks.CHECKS if name != "support"]
    assert {line["name"]: line["findings"] for line in results if line["level"] == "error"} == {}
    assert (done.exit_code, end["event"], end["errors"]) == (0, "doctor", 0)
    project = next(line for line in results if line["name"] == "project")
    assert project["said"].startswith("target local, Spark in the process, ")


def test_each_finding_is_printed_with_its_fix(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is 1; lines fit 100 characters; no line has the password of a URL."""
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", f"postgresql://reader:s3cr3t@127.0.0.1:{free_port()}/shop")
    monkeypatch.setenv("TIDEMARK_CONNECTION_EVENTS", "kafka//user:s3cr3t@host")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    (folder / "profiles.yml").write_text("shop: [outputs: {}")
    with output.console.capture() as printed:
        done = CliRunner().invoke(app, ["doctor", "--skip", "packages"])
    text = printed.get() + done.output
    assert done.exit_code == 1
    assert "JAVA_HOME is /nowhere, but /nowhere/bin/java is not there.\n           → Install Java 17" in text
    assert "profiles.yml is not YAML" in text
    assert "Spark's jars are missing" in text
    assert "TIDEMARK_CONNECTION_EVENTS is not the URL of a connection" in text
    assert "Connection refused" in text
    assert "packages" not in text.replace("security", "")
    assert "s3cr3t" not in text
    assert [line for line in text.splitlines() if len(line) > 100 and " " in line.strip()[100:]] == []
    assert text.rstrip().splitlines()[-1].startswith("5 errors")


def test_a_check_that_fails_hides_no_other(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is a finding, without secrets."""
    monkeypatch.setenv("TIDEMARK_METASTORE", "postgresql://owner:p%40ss-word@host/catalog")

    def fails(subject: Subject) -> Checked:
        raise OSError("cannot reach postgresql://owner:p@ss-word@host")

    monkeypatch.setattr(checks, "CHECKS", {"first": fails, "limits": check_limits})
    first, second = checks.run_checks(here)
    assert "OSError: cannot reach postgresql://owner:***@host" in said(first[1], Level.ERROR)
    assert "ss-word" not in first[1].findings[0].said
    assert second[0] == "limits"


def test_it_runs_without_pyspark_and_dbt(tmp_path: Path) -> None:
    """`tidemark` itself cannot start then; `python -m python_ingest.commands.doctor` can."""
    program = (
        "import runpy, sys; sys.modules |= {'pyspark': None, 'dbt': None}; sys.argv[1:] = ['support'];"
        "runpy.run_module('python_ingest.commands.doctor', run_name='__main__')"
    )
    (tmp_path / "dbt_project.yml").write_text("profile: shop\n")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert "The project cannot be opened: ModuleNotFoundError" in done.stdout


# Java


def fake_java(home: Path, *lines: str) -> None:
    """Write a Java that prints lines where Java prints its properties."""
    (home / "bin").mkdir(parents=True)
    text = "\n".join(f"echo '{line}' >&2" for line in lines)
    (home / "bin" / "java").write_text(f"#!/bin/sh\n{text}\n")
    (home / "bin" / "java").chmod(0o755)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["    java.specification.version = 11"], "Java 11 is not supported"),
        (["    java.specification.version = 1.8"], "Java 8 is not supported"),
        (["Error: could not open `jvm.cfg`"], "does not run: Error: could not open"),
        (["    java.specification.version = 17", "    os.arch = riscv64"], "is built for riscv64"),
    ],
)
def test_a_wrong_java(
    here: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], says: str
) -> None:
    """Its version, its architecture, and one that does not run."""
    fake_java(tmp_path / "java", *lines)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    level = Level.WARNING if "riscv64" in says else Level.ERROR
    assert says in said(java.check_java(here), level)


@pytest.mark.parametrize(
    ("variable", "options", "says"),
    [
        (
            "TIDEMARK_JAVA_OPTIONS",
            "-Xss4m -Duser.timezone=Europe/Berlin",
            "sets the time zone of Java to Europe",
        ),
        ("_JAVA_OPTIONS", "-Duser.timezone=America/New_York", "sets the time zone of Java to America"),
        ("TIDEMARK_JAVA_OPTIONS", "-Duser.timezone=Etc/UTC", ""),
        ("JAVA_TOOL_OPTIONS", "-Duser.timezone=Europe/Berlin", ""),  # the target's option counts
    ],
)
def test_a_time_zone_that_is_not_utc(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, options: str, says: str
) -> None:
    """The variable is named; the last option counts, as in Java."""
    monkeypatch.setenv(variable, options)
    settings = {java.DRIVER: f"-Duser.timezone=UTC {os.environ.get('TIDEMARK_JAVA_OPTIONS', '')}"}
    found = java.check_java(Subject(TODAY, root=folder, settings=settings))
    assert f"{variable} {says}" in said(found, Level.WARNING) if says else found.findings == ()


def test_a_target_without_a_time_zone(folder: Path) -> None:
    """A profile that replaces Java's options loses UTC; the session's zone is another setting."""
    settings = {java.DRIVER: "-Xss4m", java.SESSION_ZONE: "Europe/Berlin"}
    text = said(java.check_java(Subject(TODAY, root=folder, settings=settings)), Level.WARNING)
    assert "Add -Duser.timezone=UTC" in text
    assert "spark.sql.session.timeZone is Europe/Berlin" in text


# packages and their support


def test_a_package_of_another_version(here: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed and what is needed, and the command."""
    found = tmp_path / "packages" / "dbt_core-1.9.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: dbt-core\nVersion: 1.9.0\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    text = "\n".join(finding.said for finding in check_packages(here).findings)
    assert "dbt-core 1.9.0 is installed; Tidemark needs dbt-core<1.12,>=1.11" in text


def test_another_spark_and_another_adapter(
    here: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPARK_HOME makes pyspark start another Spark; a second adapter may be the one that dbt uses."""
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark-core_2.12-3.5.1.jar").touch()
    (tmp_path / "tidemark").mkdir()
    (tmp_path / "tidemark" / "__init__.py").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setattr(dbt.adapters, "__path__", [str(tmp_path), *dbt.adapters.__path__])
    by_level = {finding.level: finding.said for finding in check_packages(here).findings}
    assert "which has Spark 3.5.1; the package pyspark has" in by_level[Level.ERROR]
    assert f"dbt uses the adapter `tidemark` in {tmp_path}" in by_level[Level.WARNING]


def test_support_that_ends() -> None:
    """A warning 90 days before and on the last day; then an error, or a warning if the day is an estimate."""
    row = next(row for row in supported() if row.product == "dbt-core")

    def found(day: date, product: str = row.product) -> Level:
        findings = check_support(Subject(day)).findings
        return next((one.level for one in findings if one.said.startswith(product)), Level.OK)

    assert found(row.ends - AHEAD - timedelta(days=1)) is Level.OK
    assert found(row.ends - AHEAD) is Level.WARNING
    assert found(row.ends) is Level.WARNING
    assert found(row.ends + timedelta(days=1)) is Level.ERROR
    spark = next(row for row in supported() if row.product == "Spark")
    assert spark.estimated
    assert found(spark.ends + timedelta(days=900), "Spark") is Level.WARNING


def test_the_support_of_what_is_installed_is_known() -> None:
    """Whoever moves to another version adds its row to support.yml."""
    named = check_support(Subject(date(2020, 1, 1))).said
    assert [product for product in present_versions() if f"{product} " not in named] == []


# jars


@pytest.fixture
def with_jars(here: Subject, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """The project with three small jars, and a lock file that names them."""
    (here.root or Path()).joinpath(".jars").mkdir()
    lines = []
    for name in ("a", "b", "c"):
        with zipfile.ZipFile(f".jars/{name}-1.jar", "w") as jar:
            jar.writestr(f"{name}.class", name * 1000)
        digest = hashlib.sha256(Path(f".jars/{name}-1.jar").read_bytes()).hexdigest()
        lines.append(f"{digest}  group:{name}:1")
    Path("jars.lock").write_text("\n".join(lines))
    monkeypatch.setattr(jars, "LOCK", Path("jars.lock"))
    version = java.properties(shutil.which("java") or "")["java.vm.version"]
    Path(".jars/classes.jsa").write_text(f"Server VM ({version})")
    return here


def test_sound_jars(with_jars: Subject) -> None:
    """Nothing to report."""
    assert jars.check_jars(Subject(TODAY, is_deep=True, root=with_jars.root)).findings == ()


def test_jars_that_are_missing_cut_off_changed_or_too_many(with_jars: Subject) -> None:
    """Which ones; a changed one is found by its hash alone."""
    cut, changed = Path(".jars/a-1.jar"), Path(".jars/b-1.jar")
    cut.write_bytes(cut.read_bytes()[:-30])
    changed.write_bytes(changed.read_bytes().replace(b"b" * 9, b"x" * 9))
    Path(".jars/c-1.jar").rename(".jars/c-2.jar")
    text = "\n".join(f"{one.level.word}: {one.said}" for one in jars.check_jars(with_jars).findings)
    assert f"error: Missing in {Path('.jars').absolute()}: c-1.jar." in text
    assert "error: Not a readable jar" in text
    assert "a-1.jar" in text
    assert "warning: Jars in" in text
    assert "c-2.jar" in text
    assert "hash" not in text
    deep = jars.check_jars(Subject(TODAY, is_deep=True, root=with_jars.root)).findings
    assert any(
        one.said.startswith("Another hash than in jars.lock") and "b-1.jar" in one.said for one in deep
    )


def test_the_archive_of_classes_is_a_hint(with_jars: Subject) -> None:
    """One that is missing, older than a jar, or of another Java."""
    archive = Path(".jars/classes.jsa")
    os.utime(archive, (0, 0))
    assert "is older than a-1.jar, b-1.jar, c-1.jar" in said(jars.check_jars(with_jars), Level.NOTE)
    archive.write_bytes(b"another Java")
    assert "is of another Java" in said(jars.check_jars(with_jars), Level.NOTE)
    archive.unlink()
    assert "classes.jsa is missing" in said(jars.check_jars(with_jars), Level.NOTE)


def test_a_link_to_deleted_jars(here: Subject) -> None:
    """The cache of a user was cleaned up."""
    Path(".jars").symlink_to("/nowhere/jars")
    assert "links to /nowhere/jars, which does not exist" in said(jars.check_jars(here), Level.ERROR)


# the project


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("loca", "does not have a target named 'loca'"),
        ("other", "has another adapter: `type: spark`. Write `type: tidemark`"),
        ("secret", "Env var required but not provided: 'TIDEMARK_NOT_SET'"),
        ("served", "is 'locl', which is not a target. Did you mean 'local'? Choose one of: local, served"),
    ],
)
def test_a_target_that_cannot_be_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, says: str
) -> None:
    """What is wrong with it, and what to write."""
    monkeypatch.setenv("DBT_TARGET", target)
    Path("models/feeds.yml").write_text(FEEDS.replace("csv", "cvs"))  # an error of its own
    opened = open_project(TODAY)
    assert says in " ".join(said(Checked("", opened.findings), Level.ERROR).split())
    if target == "served":
        assert "models/feeds.yml: feed 'bills': external.file_format:" in opened.findings[1].said
        assert "No Spark answers at 127.0.0.1:1, which the target served" in said(
            check_server(opened), Level.ERROR
        )


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("dbt_project.yml", "name: [", "dbt_project.yml is not YAML"),
        ("dbt_project.yml", "- name", "dbt_project.yml is not a mapping"),
        ("models/orders.sql", "select * from {{ ref('nothing') }}", "dbt parse failed: Compilation Error"),
    ],
)
def test_a_project_that_does_not_parse(folder: Path, file: str, text: str, says: str) -> None:
    """The first error of dbt; the checks of the rest go on."""
    (folder / file).write_text(text)
    with output.console.capture() as printed:
        opened = open_project(TODAY)
    assert printed.get() == ""
    assert says in said(Checked("", opened.findings), Level.ERROR)
    assert opened.root == folder


# the lake


def test_a_lake_that_a_process_holds(here: Subject) -> None:
    """Its number and its command; a killed one holds nothing."""
    program = (
        "from python_ingest.lake.lock import hold; from pathlib import Path; hold(Path('lake')); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as process:
        while not Path("lake/.lock").is_file() or not Path("lake/.lock").read_text():
            time.sleep(0.02)
            assert process.poll() is None
        text = said(only(place.check_lake(here), "held"), Level.NOTE)
        assert f"The lake is held by process {process.pid} (-c)." in text
        process.kill()
    assert only(place.check_lake(here), "held").findings == ()


def only(checked: Checked, word: str) -> Checked:
    """A check's findings that have a word."""
    return Checked("", tuple(one for one in checked.findings if word in one.said))


def test_a_catalog_that_another_spark_has_open(here: Subject) -> None:
    """Derby locks a file while a process has it open. Its files alone mean nothing: Derby leaves them."""
    lock = Path("lake") / DERBY_LOCK
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    assert check_catalog(here).findings == ()
    program = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX);"
        "print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        if sys.platform == "linux":
            assert f"Process {process.pid} has the catalog" in said(check_catalog(here), Level.WARNING)
        process.kill()


def test_a_lake_that_cannot_be_written(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is in its place, or in that of a folder above it."""
    Path("file").touch()
    for lake in ("file", "file/lake"):
        monkeypatch.setenv("TIDEMARK_LAKE", lake)
        assert f"{Path('file').absolute()} is not a folder" in said(place.check_lake(here), Level.ERROR)


def test_a_disk_that_is_nearly_full(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a tenth, or less than a rebuild of the largest table needs."""
    table = Path("lake/warehouse/gold.db/daily_sales")
    table.mkdir(parents=True)
    (table / "part-0.parquet").write_bytes(b"x" * 3_000_000)
    Path("lake/warehouse/gold.db/small").mkdir()
    usage = type(place.shutil.disk_usage("/"))(100_000_000, 95_000_000, 5_000_000)
    monkeypatch.setattr(place.shutil, "disk_usage", lambda path: usage)
    text = said(only(place.check_lake(here), "free"), Level.WARNING)
    assert "5% of the disk" in text
    assert "5 MB are free. A rebuild of gold.daily_sales, 3 MB, may need 6 MB." in text


def test_folders_of_killed_processes(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are older than a day; Spark's own folders of today are left out."""
    for name, age in (("spark-1-2-3-4-5", 2), ("blockmgr-1-2-3-4-5", 2), ("spark-6-7-8-9-0", 0)):
        Path("scratch", name).mkdir(parents=True)
        at = time.time() - age * 86_400
        os.utime(Path("scratch", name), (at, at))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "scratch")
    assert "2 folders of killed Spark processes in scratch" in said(
        only(place.check_lake(here), "killed"), Level.NOTE
    )


# the machine


def test_names_of_files_in_another_encoding(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java asks the locale, also where Python does not."""
    monkeypatch.setenv("LC_ALL", "C")
    text = said(check_file_system(here), Level.WARNING)
    assert "Java reads file names in" in text
    assert "because of LC_ALL=C: " in text


def test_a_network_mount() -> None:
    """The longest mount point above the lake counts; blanks in it are written as numbers."""
    mounts = (
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "40 22 0:50 / /mnt/our\\040lake rw shared:1 - nfs4 server:/lake rw\n"
        "41 22 0:51 / /mnt/our rw - xfs /dev/sdb rw\n"
    )
    assert mounted(Path("/mnt/our lake/tables"), mounts) == "nfs4"
    assert mounted(Path("/mnt/our/lake"), mounts) == "xfs"
    assert mounted(Path("/srv"), mounts) == "ext4"


def test_few_open_files(here: Subject) -> None:
    """The limit of this process is lowered for the test."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        assert "may open 512 files" in said(check_limits(here), Level.WARNING)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("9999g", "Spark is to have 9999g, and there are"),
        ("two", "is 'two', which is no size"),
        ("100m", "start"),
    ],
)
def test_memory_that_is_not_there(
    here: Subject, monkeypatch: pytest.MonkeyPatch, wanted: str, says: str
) -> None:
    """More than the machine has, no number, and less than Spark starts with."""
    monkeypatch.setenv("TIDEMARK_DRIVER_MEMORY", wanted)
    assert says in said(check_limits(here), Level.ERROR)


# servers


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
    assert found.said == f"lake, raw at {url}"
    text = "\n".join(one.said for one in found.findings)
    assert "has no hadoop-aws-….jar" in text
    assert "AWS_SECRET_ACCESS_KEY is not set, but the other half of the key is." in text
    assert "AWS_REGION is not set." in text
    assert f"There is no bucket raw at {url}." in text
    assert "bucket lake" not in text
    assert f"does not answer at {url}: Connection refused." in check_object_store(subject).findings[-1].said


def test_a_catalog_server(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, wants a credential, is another kind of server, and is no URL."""
    statuses = {"/sound/v1/config?warehouse=company": 200, "/closed/v1/config": 401, "/other/v1/config": 404}
    with web_server(statuses) as url:
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/closed")
        assert "Set TIDEMARK_ICEBERG_CREDENTIAL" in said(check_catalog_server(here), Level.WARNING)
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/other")
        assert "does not answer at" in said(check_catalog_server(here), Level.ERROR)
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", f"{url}/sound/")
        monkeypatch.setenv("TIDEMARK_ICEBERG_WAREHOUSE", "company")
        assert check_catalog_server(here).findings == ()
    monkeypatch.setenv("TIDEMARK_ICEBERG_REST", "catalog:8181")
    assert "is not the URL of a catalog server" in said(check_catalog_server(here), Level.ERROR)


def test_connections(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """One broker of two is a warning, none an error; a server that answers is named, without its password."""
    with web_server({}) as url:
        there, gone = url.removeprefix("http://"), f"127.0.0.1:{free_port()}"
        monkeypatch.setenv("TIDEMARK_CONNECTION_EVENTS", f"kafka://{there},{gone}")
        monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", f"postgresql://reader:s3cr3t@{there}/shop")
        found = check_connections(here)
        assert found.said == f"events at {there},{gone}, shop at {there}"
        text = said(found, Level.WARNING)
        assert f"TIDEMARK_CONNECTION_EVENTS: nothing answers at {gone}: Connection refused." in text
    monkeypatch.setenv("TIDEMARK_CONNECTION_EVENTS", f"kafka://{gone}")
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "mysql://reader:s3cr3t@host/shop")
    text = said(check_connections(here), Level.ERROR)
    assert "TIDEMARK_CONNECTION_SHOP is not the URL of a connection. Write it like postgresql://" in text
    assert "s3cr3t" not in text


# mistyped names


def test_a_mistyped_name_gets_a_suggestion(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command, a check, a feed, a table and a model; a name that is like no other gets none."""
    done = CliRunner().invoke(app, ["docter"])
    assert (done.exit_code, "Did you mean 'doctor'?" in done.output) == (2, True)
    with pytest.raises(
        TidemarkError, match=r"no check 'jar'\.\n  → Did you mean 'jars'\? Choose from: java,"
    ):
        CliRunner().invoke(app, ["doctor", "--skip", "jar"], catch_exceptions=False)
    lakehouse = load(silent=True)
    with pytest.raises(TidemarkError, match=r"\(declared: bills\).*\n  → Did you mean 'bills'\? Name a"):
        choose(lakehouse.feeds, ["bill"])
    with pytest.raises(TidemarkError, match=r"matches \+tag:x \+ordres\+.*\n  → Did you mean 'orders'\?"):
        selected_feeds(lakehouse, ["+tag:x", "+ordres+"])
    monkeypatch.setattr(maintenance, "table_exists", lambda spark, table: True)
    with pytest.raises(TidemarkError, match=r"no table bronze\.bill\.\n  → Did you mean 'bronze\.bills'\? "):
        maintenance.chosen_tables(cast(SparkSession, None), lakehouse.tables, ["bronze.bill"])
    assert did_you_mean("something", ["orders"]) == ""
