"""Profiles and projects that cannot be opened, and lakes that cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.tidemark.operate.doctor.conftest import FEEDS, TODAY, messages_of
from tidemark.base.output import output
from tidemark.operate.doctor import place
from tidemark.operate.doctor.catalog import DERBY_LOCK, check_catalog
from tidemark.operate.doctor.connections import check_server
from tidemark.operate.doctor.finding import Checked, Level
from tidemark.operate.doctor.project import open_project
from tidemark.operate.doctor.subject import Subject


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("loca", "does not have a target named 'loca'"),
        ("other", "does not use the adapter `tidemark` (`type: spark`). Write `type: tidemark`"),
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
    assert says in " ".join(messages_of(Checked("", opened.findings), Level.ERROR).split())
    if target == "served":
        assert "models/feeds.yml: feed 'bills': external.file_format:" in opened.findings[1].message
        assert "No Spark answers at 127.0.0.1:1, which the target served" in messages_of(
            check_server(opened), Level.ERROR
        )


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("dbt_project.yml", "name: [", "dbt_project.yml is not YAML"),
        ("dbt_project.yml", "- name", "dbt_project.yml is not a mapping"),
        (
            "models/orders.sql",
            "select * from {{ ref('nothing') }}",
            "dbt parse failed: Model 'model.shop.orders'",
        ),
    ],
)
def test_a_project_that_does_not_parse(folder: Path, file: str, text: str, says: str) -> None:
    """The first error of dbt; the checks of the rest go on."""
    (folder / file).write_text(text)
    with output.console.capture() as printed:
        opened = open_project(TODAY)
    assert printed.get() == ""
    assert says in messages_of(Checked("", opened.findings), Level.ERROR)
    assert opened.root == folder


def test_secrets_that_landing_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a feed that hashes personal values, and for a lake with erased persons."""
    external = "{location: data/raw/bills, file_format: csv, pii: [id], hash_pii: true}"
    feeds = FEEDS.replace("{location: data/raw/bills, file_format: csv}", external)
    Path("models/feeds.yml").write_text(feeds)
    Path("lake/warehouse/default_ops.db/erasures").mkdir(parents=True)
    monkeypatch.setenv("TIDEMARK_PII_KEY", "short")
    text = messages_of(Checked("", open_project(TODAY).findings), Level.ERROR)
    assert "Feed 'bills' with `hash_pii` needs the secret in TIDEMARK_PII_KEY, which has fewer than" in text
    assert (
        "default_ops.erasures, which keeps erased rows out, needs the secret in TIDEMARK_ERASURE_KEY" in text
    )
    for variable in ("TIDEMARK_PII_KEY", "TIDEMARK_ERASURE_KEY"):
        monkeypatch.setenv(variable, "a secret of these tests")
    assert open_project(TODAY).findings == ()


def test_a_lake_that_a_process_holds(here: Subject) -> None:
    """Its number and its command; a killed one holds nothing."""
    program = "from tidemark.lake.lock import hold; from pathlib import Path; hold(Path('lake')); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as process:
        while not Path("lake/.lock").is_file() or not Path("lake/.lock").read_text():
            time.sleep(0.02)
            assert process.poll() is None
        text = messages_of(only(place.check_lake(here), "held"), Level.NOTE)
        assert f"The lake is held by process {process.pid} (-c)." in text
        process.kill()
    assert only(place.check_lake(here), "held").findings == ()


def only(checked: Checked, word: str) -> Checked:
    """A check's findings that have a word."""
    return Checked("", tuple(one for one in checked.findings if word in one.message))


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
            assert f"Process {process.pid} has the catalog" in messages_of(check_catalog(here), Level.WARNING)
        process.kill()


def test_a_lake_that_cannot_be_written(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is in its place, or in that of a folder above it."""
    Path("file").touch()
    for lake in ("file", "file/lake"):
        monkeypatch.setenv("TIDEMARK_LAKE", lake)
        assert f"{Path('file').absolute()} is not a folder" in messages_of(
            place.check_lake(here), Level.ERROR
        )


def test_a_disk_that_is_nearly_full(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a tenth, or less than a rebuild of the largest table needs."""
    table = Path("lake/warehouse/gold.db/daily_sales")
    table.mkdir(parents=True)
    (table / "part-0.parquet").write_bytes(b"x" * 3_000_000)
    Path("lake/warehouse/gold.db/small").mkdir()
    usage = type(place.shutil.disk_usage("/"))(100_000_000, 95_000_000, 5_000_000)
    monkeypatch.setattr(place.shutil, "disk_usage", lambda path: usage)
    text = messages_of(only(place.check_lake(here), "free"), Level.WARNING)
    assert "5% of the disk" in text
    assert "5.0 MB are free. A rebuild of gold.daily_sales, 3.0 MB, may need 6.0 MB." in text


def test_folders_of_killed_processes(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are older than a day; Spark's own folders of today are left out."""
    for name, age in (("spark-1-2-3-4-5", 2), ("blockmgr-1-2-3-4-5", 2), ("spark-6-7-8-9-0", 0)):
        Path("scratch", name).mkdir(parents=True)
        at = time.time() - age * 86_400
        os.utime(Path("scratch", name), (at, at))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "scratch")
    assert "2 folders of killed Spark processes in scratch" in messages_of(
        only(place.check_lake(here), "killed"), Level.NOTE
    )
