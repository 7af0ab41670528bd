"""Writing a new project, or what an existing dbt project lacks to use Tidemark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.clients.yaml_helper import load_yaml_text
from dbt_common.exceptions import DbtValidationError

from python_ingest.errors import TidemarkError
from python_ingest.scaffold.rendering import write_templates
from python_ingest.scaffold.writing import add

SETTINGS = {"project/profiles.yml": "profiles.yml", "project/sqlfluff.cfg": ".sqlfluff"}
PROJECT = {
    "project/dbt_project.yml": "dbt_project.yml",
    "project/gitignore": ".gitignore",
    "project/generate_schema_name.sql": "macros/generate_schema_name.sql",
    "project/orders.csv": "data/raw/orders/orders_2026-01-01.csv",
}
EXAMPLE = {
    "project/daily_orders.sql": "models/gold/orders/daily_orders.sql",
    "project/gold.yml": "models/gold/orders/_gold_orders__models.yml",
}
PROJECT_FILE, PROFILES = Path("dbt_project.yml"), Path("profiles.yml")
NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass
class Scaffold:
    """What was written.

    Attributes:
        is_new: whether there was no dbt project before.
        written: the files, relative to the project's folder.
        hints: what the user has to change in files that were there.
    """

    is_new: bool
    written: list[Path] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def write_project(name: str) -> Scaffold:
    """Write a project into the current folder; of an existing dbt project only what is missing.

    Args:
        name: the name of a new project.

    Raises:
        TidemarkError: when dbt does not accept the name, or a file of the new project exists already.
    """
    if PROJECT_FILE.exists():
        return _complete()
    if not NAME.fullmatch(name):
        raise TidemarkError(
            f"'{name}' is not a valid name of a dbt project.",
            "Give one with `--name`: lower-case letters, digits and underscores; the first is no digit.",
        )
    targets = {template: Path(target) for template, target in (SETTINGS | PROJECT | EXAMPLE).items()}
    if there := next((target for target in targets.values() if target.exists()), None):
        raise TidemarkError(
            f"{there} exists, but dbt_project.yml does not.",
            "Run `tidemark init` in an empty folder, or in the folder of a dbt project.",
        )
    written = write_templates(targets, name=name, profile=name)
    _, of_feed = add(Path("data/raw/orders").resolve(), None, ["order_id"], {}, _no_session)
    return Scaffold(True, sorted([*written, *of_feed]))


def _complete() -> Scaffold:
    project = _mapping(PROJECT_FILE)
    profile = str(project.get("profile") or project.get("name"))
    missing = {template: Path(target) for template, target in SETTINGS.items() if not Path(target).exists()}
    scaffold = Scaffold(False, write_templates(missing, profile=profile))
    outputs = (_mapping(PROFILES).get(profile) or {}).get("outputs") or {}
    for target, output in outputs.items():
        if output.get("type") == "spark":
            scaffold.hints.append(
                f"profiles.yml: write `type: tidemark` instead of `type: spark` in target '{target}'"
            )
    if not outputs:
        scaffold.hints.append(f"profiles.yml has no profile '{profile}': add one with `type: tidemark`")
    return scaffold


def _mapping(path: Path) -> dict[str, Any]:
    try:
        return load_yaml_text(path.read_text(encoding="utf-8")) or {}
    except DbtValidationError as error:
        raise TidemarkError(f"{path} is not YAML: {error}", "Correct it and try again.") from error


def _no_session() -> Any:
    raise AssertionError("a CSV file is read without Spark")
