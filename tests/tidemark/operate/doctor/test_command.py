"""`tidemark doctor` as a user meets it; Spark does not start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from dev.servers.programs import free_port
from python_ingest.feeds.declarations import choose
from tests.conftest import ROOT
from tests.tidemark.operate.doctor.conftest import messages_of
from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.base.output import output
from tidemark.cli.main import app
from tidemark.maintain import maintenance
from tidemark.operate.doctor import checks
from tidemark.operate.doctor.finding import Checked, Level
from tidemark.operate.doctor.limits import check_limits
from tidemark.operate.doctor.subject import Subject
from tidemark.project_with_feeds import ProjectWithFeeds


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
    assert project["message"].startswith("target local, Spark in the process, ")


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
    assert "profiles.yml is not YAML" in " ".join(text.split()), "lines break after words"
    assert "Spark's jars are missing" in text
    assert "TIDEMARK_CONNECTION_EVENTS is not the URL of a connection" in text
    assert "Connection refused" in text
    assert "packages" not in text.replace("security", "")
    assert "s3cr3t" not in text
    assert [line for line in text.splitlines() if len(line) > 100 and " " in line.strip()[100:]] == []
    assert text.rstrip().splitlines()[-1].startswith("5 errors")


def test_a_failed_check_does_not_hide_the_others(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is a finding, without secrets."""
    monkeypatch.setenv("TIDEMARK_METASTORE", "postgresql://owner:p%40ss-word@host/catalog")

    def fails(subject: Subject) -> Checked:
        raise OSError("cannot reach postgresql://owner:p@ss-word@host")

    monkeypatch.setattr(checks, "CHECKS", {"first": fails, "limits": check_limits})
    first, second = checks.run_checks(here)
    assert "OSError: cannot reach postgresql://owner:***@host" in messages_of(first[1], Level.ERROR)
    assert "ss-word" not in first[1].findings[0].message
    assert second[0] == "limits"


def test_it_runs_without_pyspark_and_dbt(tmp_path: Path) -> None:
    """`tidemark` itself cannot start then; `python -m tidemark.cli.doctor` can."""
    program = (
        "import runpy, sys; sys.modules |= {'pyspark': None, 'dbt': None}; sys.argv[1:] = ['support'];"
        "runpy.run_module('tidemark.cli.doctor', run_name='__main__')"
    )
    (tmp_path / "dbt_project.yml").write_text("profile: shop\n")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert "The project cannot be opened: ModuleNotFoundError" in done.stdout


def test_a_mistyped_name_gets_a_suggestion(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command, a check, a feed, a table and a model; a name that is like no other gets none."""
    done = CliRunner().invoke(app, ["docter"])
    assert (done.exit_code, "Did you mean 'doctor'?" in done.output) == (2, True)
    with pytest.raises(
        TidemarkError, match=r"no check 'jar'\.\n  → Did you mean 'jars'\? Choose from: java,"
    ):
        CliRunner().invoke(app, ["doctor", "--skip", "jar"], catch_exceptions=False)
    lakehouse = ProjectWithFeeds.load(silent=True)
    with pytest.raises(TidemarkError, match=r"\(declared: bills\).*\n  → Did you mean 'bills'\? Name a"):
        choose(lakehouse.feeds, ["bill"])
    with pytest.raises(TidemarkError, match=r"matches \+tag:x \+ordres\+.*\n  → Did you mean 'orders'\?"):
        lakehouse.selected_names(["+tag:x", "+ordres+"])
    monkeypatch.setattr(maintenance, "table_exists", lambda spark, table: True)
    with pytest.raises(TidemarkError, match=r"no table bronze\.bill\.\n  → Did you mean 'bronze\.bills'\? "):
        maintenance.chosen_tables(cast(SparkSession, None), lakehouse.tables, ["bronze.bill"])
    assert did_you_mean("something", ["orders"]) == ""
