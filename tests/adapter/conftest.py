"""Runs dbt's own adapter tests on `type: tidemark`, in the warm session of all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.conftest import ROOT

with suppress(ImportError):  # then the tests skip themselves: test_adapter_suite.py
    from dbt.tests.fixtures.project import *  # noqa: F403


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession) -> dict[str, Any]:
    return {"type": "tidemark", "method": "session", "threads": 1}


@pytest.fixture(scope="class")
def dbt_project_yml(project_root: Any, project_config_update: Any) -> dict[str, Any]:
    """The project of a class, on Delta tables: dbt-spark's default is parquet."""
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
    Path(project_root, "dbt_project.yml").write_text(yaml.safe_dump(project))
    return project


@pytest.fixture(scope="class", autouse=True)
def back(spark: SparkSession) -> Iterator[None]:
    """The folder of the repository is the present one again: dbt's tests change it."""
    yield
    os.chdir(ROOT)
