"""Runs dbt's own adapter tests on `type: tidemark` or, with TIDEMARK_ADAPTER=spark, on stock dbt-spark.

Both run in one warm Spark session with the same settings. A run on stock loads nothing of Tidemark into dbt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.spark.impl import SparkAdapter
from dbt.tests.fixtures import project as of_dbt
from dbt.tests.fixtures.project import *  # noqa: F403
from pyspark.sql import SparkSession

from tests.adapter import dialect, recorder
from tests.adapter.differences import DIFFERENCES
from tests.adapter.suite import is_stock, name_of_test, profile_target
from tests.conftest import ROOT

if is_stock():

    @pytest.fixture(scope="session")
    def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
        """The same Spark as Tidemark's, started without Tidemark's adapter."""
        from tidemark.spark.hive_schema import prepare_catalog

        os.environ["TIDEMARK_LAKE"] = str(tmp_path_factory.mktemp("scratch lake"))
        prepare_catalog()
        from tidemark.spark.session import embedded_session
        from tidemark.spark.settings import embedded_settings

        session = embedded_session(embedded_settings("delta"))
        yield session
        session.stop()
        assert "dbt.adapters.tidemark" not in sys.modules


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession) -> dict[str, Any]:
    return profile_target()


@pytest.fixture(scope="class")
def dbt_project_yml(
    request: pytest.FixtureRequest, project_root: Any, project_config_update: Any
) -> dict[str, Any]:
    """The project of a class, on Delta tables: dbt-spark's default is parquet."""
    if hasattr(of_dbt, "vars_yml"):  # since dbt-core 1.12
        request.getfixturevalue("vars_yml")
    given = (
        yaml.safe_load(project_config_update)
        if isinstance(project_config_update, str)
        else project_config_update
    )
    project: dict[str, Any] = {
        "name": "test",
        "profile": "test",
        "flags": {"send_anonymous_usage_stats": False},
    }
    project.update(given or {})
    for kind in ("models", "seeds", "snapshots"):
        project[kind] = {"+file_format": "delta", **(project.get(kind) or {})}
    text = dialect.project_for_spark(yaml.safe_dump(project, width=1000))
    Path(project_root, "dbt_project.yml").write_text(text, encoding="utf-8")
    return project


@pytest.fixture(scope="session", autouse=True)
def dialect_of_spark() -> Iterator[None]:
    """Translate the statements that tests run, and the files of their projects, from PostgreSQL's dialect."""
    run, write = SparkAdapter.run_sql_for_tests, of_dbt.write_project_files

    def run_statements(adapter: SparkAdapter, sql: str, fetch: str | None, connection: Any) -> Any:
        rows = None
        for statement in dialect.statements_for_spark(sql):
            rows = run(adapter, statement, fetch, connection)
        return rows

    def write_files(project_root: Any, folder: str, files: dict[str, Any]) -> None:
        write(project_root, folder, dialect.files_for_spark(files or {}))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SparkAdapter, "run_sql_for_tests", run_statements)
        patched.setattr(of_dbt, "write_project_files", write_files)
        yield


@pytest.fixture(scope="module")
def test_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what tests write beside their projects, which is not the repository's."""
    return tmp_path_factory.mktemp("warehouse") / "data"


@pytest.fixture(scope="class", autouse=True)
def back(spark: SparkSession) -> Iterator[None]:
    """Leave the session and the process as a command would find them: no views, the repository's folder."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("DBT_TARGET_PATH", "DBT_LOG_PATH"):  # dbt's tests look into their project's folder
            patched.delenv(name, raising=False)
        yield
    os.chdir(ROOT)
    for row in spark.sql("show views").collect():
        if row["isTemporary"]:
            spark.catalog.dropTempView(row["viewName"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the failures of differences.py, each with its reason."""
    for item in items:
        difference = DIFFERENCES.get(name_of_test(item.nodeid))
        reason = difference and (difference.stock if is_stock() else difference.tidemark)
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    recorder.record(report)
