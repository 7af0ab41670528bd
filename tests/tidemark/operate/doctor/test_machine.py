"""Java, packages, their support, and the machine: real broken situations."""

from __future__ import annotations

import os
from datetime import date, timedelta
from pathlib import Path

import dbt.adapters
import pytest
from packaging.specifiers import SpecifierSet

from tests.tidemark.operate.doctor.conftest import TODAY, messages_of
from tidemark.operate.doctor import java
from tidemark.operate.doctor.finding import Checked, Level
from tidemark.operate.doctor.packages import check_packages
from tidemark.operate.doctor.subject import Subject
from tidemark.operate.doctor.support import AHEAD, check_support, present_versions, supported


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
    assert says in messages_of(java.check_java(here), level)


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
    assert f"{variable} {says}" in messages_of(found, Level.WARNING) if says else found.findings == ()


def test_a_target_without_a_time_zone(folder: Path) -> None:
    """A profile that replaces Java's options loses UTC; the session's zone is another setting."""
    settings = {java.DRIVER: "-Xss4m", java.SESSION_ZONE: "Europe/Berlin"}
    text = messages_of(java.check_java(Subject(TODAY, root=folder, settings=settings)), Level.WARNING)
    assert "Add -Duser.timezone=UTC" in text
    assert "spark.sql.session.timeZone is Europe/Berlin" in text


def test_a_package_with_another_version(
    here: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed and what is needed, and the command."""
    found = tmp_path / "packages" / "dbt_core-1.9.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: dbt-core\nVersion: 1.9.0\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    text = "\n".join(finding.message for finding in check_packages(here).findings)
    assert "dbt-core 1.9.0 is installed; Tidemark needs dbt-core<1.13,>=1.11" in text


def test_the_package_of_another_project(
    here: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install tidemark` brings another project's package, whose command takes the place of ours."""
    found = tmp_path / "packages" / "tidemark-0.1.4.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: tidemark\nVersion: 0.1.4\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    text = messages_of(Checked("", tuple(check_packages(here).findings)), Level.WARNING)
    assert "The package `tidemark` 0.1.4 is installed beside `dbt-tidemark`" in text
    assert "`pip uninstall tidemark`, then `pip install --force-reinstall --no-deps dbt-tidemark`." in text


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
    by_level = {finding.level: finding.message for finding in check_packages(here).findings}
    assert "which has Spark 3.5.1; the package pyspark has" in by_level[Level.ERROR]
    assert f"dbt uses the adapter `tidemark` in {tmp_path}" in by_level[Level.WARNING]


def test_support_that_ends() -> None:
    """A warning 90 days before and on the last day; then an error, or a warning if the day is an estimate."""
    version = present_versions()["dbt-core"]
    row = next(
        row for row in supported() if row.product == "dbt-core" and version in SpecifierSet(row.versions)
    )

    def found(day: date, product: str = row.product) -> Level:
        findings = check_support(Subject(day)).findings
        return next((one.level for one in findings if one.message.startswith(product)), Level.OK)

    assert found(row.ends - AHEAD - timedelta(days=1)) is Level.OK
    assert found(row.ends - AHEAD) is Level.WARNING
    assert found(row.ends) is Level.WARNING
    assert found(row.ends + timedelta(days=1)) is Level.ERROR
    spark = next(row for row in supported() if row.product == "Spark")
    assert spark.estimated
    assert found(spark.ends + timedelta(days=900), "Spark") is Level.WARNING


def test_the_support_of_what_is_installed_is_known() -> None:
    """Whoever moves to another version adds its row to support.yml."""
    named = check_support(Subject(date(2020, 1, 1))).message
    assert [product for product in present_versions() if f"{product} " not in named] == []
