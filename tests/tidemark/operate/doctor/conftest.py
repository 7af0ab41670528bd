"""A small dbt project, and nothing of this machine's settings."""

from __future__ import annotations

import os
import tempfile
from datetime import date
from pathlib import Path

import pytest

from tidemark.operate.doctor import java
from tidemark.operate.doctor.finding import Checked, Level
from tidemark.operate.doctor.subject import Subject

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
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No settings of this machine, and nothing of its temporary folder; Java is asked anew."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
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


def messages_of(checked: Checked, level: Level) -> str:
    """What a check found, all of one level, with the fixes."""
    assert checked.findings
    assert {finding.level for finding in checked.findings} == {level}
    assert all(finding.message and finding.fix.endswith(".") for finding in checked.findings)
    return "\n".join(f"{finding.message} {finding.fix}" for finding in checked.findings)
