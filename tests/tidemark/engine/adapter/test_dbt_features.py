"""docs/dbt_features.md is the table of tests/dbt_features.py; each row has a test, no option is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from dbt.cli.main import cli, dbtRunner
from dbt.task.seed import SeedTask
from dbt_common.exceptions import DbtConfigError
from sqlglot.dialects.spark import Spark

from tests.conftest import ROOT
from tests.dbt_features import FEATURES
from tidemark.engine.adapter import connections, shown_seeds
from tidemark.engine.adapter.connections import TidemarkCredentials

pytestmark = pytest.mark.R1
PAGE = ROOT / "docs" / "dbt_features.md"
COMMANDS = ("run", "build", "test", "seed", "snapshot", "clone", "show", "compile", "retry", "run-operation")


def options_of_dbt() -> set[str]:
    """The options of the commands that read or write tables."""
    sub = {"docs": "generate", "source": "freshness"}
    groups = {name: command for name, command in cli.commands.items() if isinstance(command, click.Group)}
    commands = [cli.commands[name] for name in COMMANDS] + [groups[a].commands[b] for a, b in sub.items()]
    return {
        option
        for command in commands
        for one in command.params
        if isinstance(one, click.Option)
        for option in one.opts
    }


def test_each_option_of_dbt_is_in_the_table() -> None:
    """R1: an option that a new version of dbt brings fails here."""
    known = [option for feature in FEATURES for option in feature.options.split()]
    assert options_of_dbt() - set(known) == set()
    assert len(known) == len(set(known)), "an option belongs to one row"


def test_the_page_equals_the_table() -> None:
    """R1: one row a feature, in the same words."""
    rows = re.findall(r"^\| (.*) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert rows[1:] == [(one.name, one.effect) for one in FEATURES]


def test_each_feature_has_a_test() -> None:
    """R1: the function that a row names is there."""
    for feature in FEATURES:
        file, _, function = feature.test.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text(), feature.name


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project `features`, whose lake is empty."""
    folder = tmp_path / "features"
    shutil.copytree(ROOT / "tests" / "fixtures" / "features", folder)
    monkeypatch.setenv("TIDEMARK_LAKE", str(tmp_path / "lake"))
    return folder


def listed(project: Path, *arguments: str, to: str = "target") -> Any:
    """Run `dbt ls`, which starts no Spark; return its lines, or the error."""
    options = ["--project-dir", str(project), "--profiles-dir", str(ROOT), "--target-path", str(project / to)]
    outcome = dbtRunner().invoke(["--log-level", "none", "ls", *arguments, *options])
    os.chdir(ROOT)
    return outcome.result if outcome.exception is None else str(outcome.exception)


def test_features_that_dbt_parses(project: Path) -> None:
    """R1: groups, access, selectors, metrics, functions, exposures; JSON."""
    kinds = ("metric", "semantic_model", "saved_query", "function", "exposure", "unit_test")
    found = listed(project, "--resource-type", *kinds, "--output", "json")
    assert {json.loads(line)["resource_type"] for line in found} == set(kinds)
    assert len(listed(project, "--selector", "only_orders", "--resource-type", "model")) == 1
    model = project / "models" / "reads_secret.sql"
    model.write_text("select * from {{ ref('secret') }}")
    assert "not allowed because the referenced node is private to the 'finance' group" in listed(project)


def test_state_is_compared_as_in_dbt(project: Path) -> None:
    """R1: the parts of `state:modified`, and a state of no freshness."""
    listed(project, to="before")
    state = ("--state", str(project / "before"), "--resource-type", "model", "--output", "name")
    assert listed(project, "--select", "state:modified", *state) == []
    model = project / "models" / "amounts.sql"
    model.write_text(model.read_text().replace("select id", "select id + 0 as id"))
    assert listed(project, "--select", "state:modified.body", *state) == ["amounts"]
    assert listed(project, "--select", "state:modified.configs", *state) == []
    assert listed(project, "--select", "state:modified+", *state) == ["amounts", "reads_view"]
    model.write_text(model.read_text().replace("'view'", "'table', alias='other'"))
    changed = {
        part: listed(project, "--select", f"state:modified.{part}", *state)
        for part in ("configs", "relation")
    }
    assert changed == {"configs": ["amounts"], "relation": ["amounts"]}
    assert "amounts" not in listed(project, "--select", "state:unmodified", *state)
    assert "sources.json" in listed(project, "--select", "source_status:fresher+", *state)


def test_the_v2_parser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """R1: dbt parses before it loads the adapter, so the profile refuses the option."""
    monkeypatch.setattr(connections, "get_flags", lambda: SimpleNamespace(USE_V2_PARSER=True))
    with pytest.raises(DbtConfigError, match="--use-v2-parser: dbt's v2 parser loads no adapters in Python"):
        TidemarkCredentials(method="session", schema="main", database=None)
    monkeypatch.setattr(connections, "get_flags", lambda: SimpleNamespace(USE_V2_PARSER=False))
    assert TidemarkCredentials(method="session", schema="main", database=None).type == "tidemark"


def test_catalogs_are_refused(project: Path) -> None:
    """R1: the error names the fix."""
    one = "{name: one, catalog_type: unity, table_format: iceberg}"
    (project / "catalogs.yml").write_text(f"catalogs:\n  - name: other\n    write_integrations: [{one}]\n")
    options = ["--project-dir", str(project), "--profiles-dir", str(ROOT)]
    outcome = dbtRunner().invoke(["--log-level", "none", "parse", *options])
    os.chdir(ROOT)
    assert "catalogs.yml names the catalog other. All tables are in the catalog of the target" in str(
        outcome.exception
    )


def test_seeds_are_shown_in_a_project_with_hooks() -> None:
    """R1: dbt looks for rows in the result of a hook, and of a seed that was skipped, and has none."""
    shown_seeds.attach()
    shown: list[Any] = []
    seed = SimpleNamespace(status="success", agate_table="rows")
    skipped, hook = SimpleNamespace(status="skipped", agate_table=None), SimpleNamespace(status="success")
    task: Any = SimpleNamespace(show_table=shown.append)
    SeedTask.show_tables(task, [hook, seed, skipped])
    assert shown == [seed]


def test_a_retry_needs_results(project: Path) -> None:
    """R1.5: a command that was killed has written none."""
    options = ["--project-dir", str(project), "--profiles-dir", str(ROOT), "--target-path", "none"]
    outcome = dbtRunner().invoke(["--log-level", "none", "retry", *options])
    os.chdir(ROOT)
    assert "Could not find previous run in 'none' target directory" in str(outcome.exception)


def test_tools_find_the_dialect_by_the_name_of_the_adapter() -> None:
    """R1: recce gives sqlglot the manifest's `adapter_type`."""
    group = "sqlglot.dialects"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][group]
    dialect = EntryPoint("tidemark", declared["tidemark"], group).load()
    assert issubclass(dialect, Spark)
    assert dialect.get_or_raise("tidemark").__class__ is dialect
