"""Conventions of the engine's macros, as dbt-bouncer.yml has them for those of the project."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from dbt.clients.yaml_helper import load_yaml_text
from dbt.parser.schemas import is_valid_type

from tests.conftest import ROOT

pytestmark = [pytest.mark.R1, pytest.mark.core]
ENGINE = ROOT / "dbt/include/tidemark"
FILES = sorted([*ENGINE.glob("macros/**/*.sql"), *ENGINE.glob("tests/**/*.sql")])
BLOCK = re.compile(
    r"\{%-? (?P<kind>macro|test|materialization) (?P<name>\w+)(\((?P<arguments>.*?)\))?.*?"
    r"\{%-? end(macro|test|materialization) -?%\}",
    re.DOTALL,
)
MOST_MACROS, MOST_LINES = 4, 60
CALLED_FROM_PYTHON = {
    f"tidemark__{name}" for name in ("create_run_tables", "record_run", "unlock_selected_tables")
}
FOR_USERS = {"changes", "watermark_filter", "layer_schema", "row_balance", "touched_groups", "is_incremental"}
ROW_LOGIC = ("staging", "change_records", "values")  # folders of macros that models call
OTHER_NAME = {"rows_read.sql"}  # several of one rank


@cache
def macros_of_dbt() -> set[str]:
    """Return the names of the macros of dbt and dbt-spark that an adapter may replace."""
    found: set[str] = set()
    for package in ("global_project", "spark"):
        for path in Path(str(files(f"dbt.include.{package}"))).rglob("*.sql"):
            found |= set(re.findall(r"\{%-? *macro (\w+)\(", path.read_text(encoding="utf-8")))
    return {name.removeprefix("default__").removeprefix("spark__") for name in found}


def blocks(path: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(path.read_text(encoding="utf-8")))


def documented() -> dict[str, list[str]]:
    """Return the arguments of each macro that a properties file describes."""
    found = {}
    for path in ENGINE.rglob("_macros.yml"):
        for macro in (load_yaml_text(path.read_text(encoding="utf-8")) or {})["macros"]:
            assert macro["description"].strip(), macro["name"]
            assert macro["name"] not in found, f"{macro['name']} is described twice"
            arguments = macro.get("arguments", [])
            assert all(set(argument) == {"name", "type", "description"} for argument in arguments), arguments
            assert all(is_valid_type(argument["type"]) for argument in arguments), macro["name"]
            found[macro["name"]] = [argument["name"] for argument in arguments] or of_a_test(macro)
    return found


def of_a_test(macro: dict[str, str]) -> list[str]:
    """Return the arguments of a generic test: the table that dbt gives it, and those in its description."""
    if not macro["name"].startswith("test_"):
        return []
    return ["model", *re.findall(r"^- `(\w+)` \(", macro["description"], re.MULTILINE)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_short_and_named_after_a_macro(path: Path) -> None:
    """R1: what a file does is in its name."""
    found = blocks(path)
    assert 1 <= len(found) <= MOST_MACROS
    assert max(block.group().count("\n") + 1 for block in found) <= MOST_LINES
    named = f"(tidemark__)?((delta|iceberg)_)?(get_)?{path.stem}"
    assert path.name in OTHER_NAME or any(re.fullmatch(named, block["name"]) for block in found)


def test_the_macro_of_a_file_is_documented_with_its_arguments() -> None:
    """R1: a file's other macros are its helpers; their names say what they do."""
    arguments_of = documented()
    wrong = []
    for path in FILES:
        for block in blocks(path):
            prefix = "test_" if block["kind"] == "test" else ""
            name = prefix + block["name"]
            arguments = re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", block["arguments"] or "")
            plain = block["name"].removeprefix("tidemark__")
            is_own = plain not in macros_of_dbt() and block["kind"] != "materialization"
            if ((is_own and plain == path.stem) or name in arguments_of) and arguments_of.get(
                name
            ) != arguments:
                wrong.append(f"{name}: has {arguments}, documented are {arguments_of.get(name)}")
    assert not wrong


def test_each_macro_is_used_and_each_call_has_a_macro() -> None:
    """R1: calls have the prefix `dbt.` and find a macro; each macro is called, or is for users."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    text = "\n".join(texts.values())
    defined = {block["name"] for path in FILES for block in blocks(path) if block["kind"] == "macro"}
    called = set(re.findall(r"\bdbt\.(\w+)\(", text))
    by_format = set(re.findall(r"by_format\('(\w+)'\)", text))
    formats = {f"tidemark__{each}_{name}" for each in ("delta", "iceberg") for name in by_format}
    assert formats <= defined
    of_stock = {f"materialization_{name}_spark" for name in ("incremental", "table", "view")}
    of_stock |= {"materialization_test_default", "spark__create_columns", "default__get_empty_subquery_sql"}
    assert called - defined == of_stock
    code = re.sub(r"(?s)\{#.*?#\}|'[^'\n]*'|\{% macro \w+", "", text)
    bare = {name for name in re.findall(r"(?<![.\w])(\w+)\(", code) if name in defined}
    assert not bare
    of_dbt = {f"tidemark__{name}" for name in macros_of_dbt()} | {
        "is_incremental",
        "tidemark__get_relations_by_prefix",
    }
    assert not defined - called - formats - of_dbt - CALLED_FROM_PYTHON - set(documented())


def test_macros_that_are_not_for_users_have_the_prefix_of_the_engine() -> None:
    """R1: dbt's own macros and those of packages have other names."""
    for path in FILES:
        names = {block["name"] for block in blocks(path) if block["kind"] == "macro"}
        if path.parent.name not in ROW_LOGIC:
            assert not {name for name in names if not name.startswith("tidemark__")} - FOR_USERS, path
    assert not macros_of_dbt() & {name.removeprefix("tidemark__") for name in CALLED_FROM_PYTHON}


def test_no_macro_asks_the_clock() -> None:
    """R1: a run over the same rows gives the same rows."""
    clock = re.compile(r"(?i)\bcurrent_(timestamp|date)\b|\b(now|rand|random|uuid)\s*\(\)")
    asking = [path.name for path in FILES if clock.search(path.read_text(encoding="utf-8"))]
    assert not asking
