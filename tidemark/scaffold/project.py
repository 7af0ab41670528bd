"""Write a new project, or what an existing dbt project lacks to use Tidemark."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.texts import yaml_mapping
from tidemark.scaffold.rendering import write_templates
from tidemark.scaffold.sampling import sample_of
from tidemark.scaffold.writing import FILES, add

PROJECT_FILE, PROFILES, IGNORED = Path("dbt_project.yml"), Path("profiles.yml"), Path(".gitignore")
RAW = Path("data/raw/orders")  # of the example feed
KEPT = {"project/sqlfluff.cfg": Path(".sqlfluff"), "project/gitignore": IGNORED}  # written if there are none
PROJECT = {
    "project/dbt_project.yml": PROJECT_FILE,
    "project/profiles.yml": PROFILES,
    "project/generate_schema_name.sql": Path("macros/generate_schema_name.sql"),
    "project/orders.csv": RAW / "orders_2026-01-01.csv",
    "project/daily_orders.sql": Path("models/gold/orders/daily_orders.sql"),
    "project/gold.yml": Path("models/gold/orders/_gold_orders__models.yml"),
}
NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass
class Scaffold:
    """The written files.

    Attributes:
        is_new: True if there was no dbt project before.
        written: the files, relative to the project's folder.
        hints: what the user has to change in existing files.
    """

    is_new: bool
    written: list[Path] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def check_name(name: str) -> None:
    """Stop if dbt does not accept the name of a new project.

    Raises:
        TidemarkError: when it does not.
    """
    if not NAME.fullmatch(name):
        raise TidemarkError(
            f"'{name}' is not a valid name of a dbt project.",
            "Give one with `--name`: lower-case letters, digits and underscores. "
            "It must not start with a digit.",
        )


def write_project(name: str) -> Scaffold:
    """Write a project into the current folder, or what an existing dbt project lacks.

    Args:
        name: the name of a new project.

    Raises:
        TidemarkError: when a file of the new project exists already.
    """
    if PROJECT_FILE.exists():
        return _complete()
    of_feed = [Path(target.format(name=RAW.name)) for target in FILES.values()]
    if there := next((target for target in (*PROJECT.values(), *of_feed) if target.exists()), None):
        raise TidemarkError(
            f"{there} exists, but dbt_project.yml does not.",
            "Run `tidemark init` in an empty folder, or in the folder of a dbt project.",
        )
    missing = {template: target for template, target in KEPT.items() if not target.exists()}
    written = write_templates(PROJECT | missing, name=name, profile=name)
    *_, of_feed = add(RAW.resolve(), None, ["order_id"], None, partial(sample_of, _no_session))
    return Scaffold(True, sorted([*written, *of_feed]))


def _complete() -> Scaffold:
    project = yaml_mapping(PROJECT_FILE)
    profile = str(project.get("profile") or project.get("name"))
    missing = {template: target for template, target in KEPT.items() if not target.exists()}
    profiles = _profiles()
    if profiles is None:
        missing["project/profiles.yml"] = profiles = PROFILES
    plain = profile if NAME.fullmatch(profile) else json.dumps(profile)
    scaffold = Scaffold(False, write_templates(missing, profile=plain))
    outputs = (yaml_mapping(profiles).get(profile) or {}).get("outputs") or {}
    if all(output.get("type") != "tidemark" for output in outputs.values()):
        where = f"in a target of the profile '{profile}'" if outputs else f"in a new profile '{profile}'"
        scaffold.hints.append(f"{profiles}: write `type: tidemark` {where}")
    if ".jars" not in IGNORED.read_text(encoding="utf-8"):
        scaffold.hints.append(".gitignore: add the lines `/.jars` and `/lake*/`")
    if not _builds_incrementally(project):
        scaffold.hints.append(
            "dbt_project.yml: feeds that `tidemark add` declares need `+materialized: incremental` and "
            "`+schema: silver` for models/silver"
        )
    return scaffold


def _profiles() -> Path | None:
    """Return the profiles.yml that dbt would read; None if there is none."""
    folders = [os.environ.get("DBT_PROFILES_DIR"), Path(), Path.home() / ".dbt"]
    found = (Path(folder) / PROFILES for folder in folders if folder is not None)
    return next((path for path in found if path.exists()), None)


def _builds_incrementally(project: dict[str, Any]) -> bool:
    def asks(block: Any) -> bool:
        if not isinstance(block, dict):
            return False
        named = block.get("+materialized", block.get("materialized"))
        return named == "incremental" or any(asks(value) for value in block.values())

    return asks(project.get("models"))


def _no_session() -> Any:
    raise AssertionError("a CSV file is read without Spark")
