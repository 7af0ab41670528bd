"""Targets with Spark on a server: what they connect to, and where those commands run that need a JVM."""

from __future__ import annotations

import os

import pytest

from tests.conftest import ROOT
from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core import profiles
from tidemark.lake.metastore import ICEBERG_REST
from tidemark.lake.place import LAKE, lake_folder
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.spark.connect import REMOTE, check_server

TOKEN = "dapi-not-a-token"  # noqa: S105
DATABRICKS = {
    "DATABRICKS_HOST": "host.invalid",
    "DATABRICKS_CLUSTER_ID": "0101-cluster",
    "DBT_ENV_SECRET_DATABRICKS_TOKEN": TOKEN,
    "DBT_TARGET": "databricks",
}


def test_databricks_is_reached_by_spark_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The project parses for it, and an error does not show the token."""
    for name, value in DATABRICKS.items():
        monkeypatch.setenv(name, value)
    remote = profiles.spark_settings(ROOT, may_be_remote=True)[REMOTE]
    assert remote == f"sc://host.invalid:443/;token={TOKEN};x-databricks-cluster-id=0101-cluster"
    assert len(ProjectWithFeeds.load().feeds) > 3
    with pytest.raises(TidemarkError, match=r"answers at sc://host.invalid:443 \(") as message:
        check_server(remote)
    assert TOKEN not in str(message.value)
    with pytest.raises(TidemarkError, match="the target 'databricks' has none"):
        profiles.choose_target(ROOT)


def test_what_needs_spark_in_the_process_runs_on_the_target_that_is_named_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Landing on `connect` and `thrift` runs on `local`; what only reads runs on a Connect server."""
    monkeypatch.setenv("DBT_TARGET", "local")
    assert profiles.embedded_target(ROOT) == ""
    monkeypatch.setenv("DBT_TARGET", "connect")
    assert profiles.embedded_target(ROOT, may_be_remote=True) == ""
    assert profiles.embedded_target(ROOT) == "local"
    monkeypatch.setenv("DBT_TARGET", "thrift")
    profiles.choose_target(ROOT, may_be_remote=True)
    assert os.environ["DBT_TARGET"] == "local"


@pytest.mark.parametrize("url", ["catalog:8181", "ftp://catalog", "https://user:password@catalog"])
def test_an_invalid_catalog_server_url_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value is not shown: it may have a password."""
    monkeypatch.setenv("DBT_TARGET", "iceberg")
    monkeypatch.setenv(ICEBERG_REST, url)
    with pytest.raises(TidemarkError, match="TIDEMARK_ICEBERG_REST is not the URL") as message:
        profiles.spark_settings(ROOT)
    assert url not in str(message.value)


def test_a_target_with_an_unset_variable_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable's name."""
    monkeypatch.setenv("DBT_TARGET", "databricks")
    monkeypatch.delenv("DATABRICKS_HOST", raising=False)
    with pytest.raises(TidemarkError, match="Env var required but not provided: 'DATABRICKS_HOST'"):
        profiles.spark_settings(ROOT)


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("s3a://lakes/demo", "lake-lakes-demo"),
        ("s3a://KEY:not%2Fa+secret@lakes/demo", "lake-lakes-demo"),
        ("abfss://lakes@account.dfs.core.windows.net/demo", "lake-lakes-account-dfs-core-windows-net-demo"),
    ],
)
def test_the_local_folder_of_a_lake_at_a_url(
    location: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named after the place, and not after keys."""
    monkeypatch.setenv(LAKE, location)
    assert str(lake_folder()) == folder
