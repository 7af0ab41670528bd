"""What the suite consists of: the classes of dbt-tests-adapter, and ours below them."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dbt.tests.adapter as package

ADAPTER = os.environ.get("TIDEMARK_ADAPTER", "tidemark")  # the profile's type: `tidemark` or `spark`
FOLDER = Path(__file__).parent
PACKAGE = "dbt.tests.adapter"
Class = type[object]


def is_stock() -> bool:
    """Return whether the suite runs on stock dbt-spark."""
    return ADAPTER == "spark"


def profile_target() -> dict[str, Any]:
    """Return the target of profiles.yml for the adapter that is tested."""
    target: dict[str, Any] = {"type": ADAPTER, "method": "session", "host": "localhost", "threads": 1}
    if not is_stock():
        return target
    from tidemark.spark.settings import embedded_settings

    return {**target, "server_side_parameters": embedded_settings("delta")}


def name_of_test(node_id: str) -> str:
    """Return the name of a test without its file: `TestBasicSeed::test_simple_seed`."""
    return node_id.split("::", 1)[1]


def classes_of_package() -> dict[str, Class]:
    """Return the classes with tests of the installed dbt-tests-adapter, by module and name.

    Classes named `Test…` are left out: they run one of the others on PostgreSQL.
    """
    found = {}
    for folder in package.__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            module = ".".join([PACKAGE, *path.relative_to(folder).with_suffix("").parts])
            for one in _classes(module):
                if not one.__name__.lower().startswith("test"):
                    found[f"{module.removeprefix(PACKAGE + '.')}.{one.__name__}"] = one
    return found


def classes_of_suite() -> dict[str, Class]:
    """Return the classes of this folder that pytest runs, by name."""
    modules = (f"{__package__}.{path.stem}" for path in sorted(FOLDER.glob("test_*.py")))
    return {one.__name__: one for module in modules for one in _classes(module)}


def names_of_tests(one: Class) -> list[str]:
    """Return the names of the tests of a class: `TestBasicSeed::test_simple_seed`."""
    names = (name for name, each in inspect.getmembers(one, inspect.isfunction) if name.startswith("test_"))
    return [f"{one.__name__}::{name}" for name in names]


def _classes(module: str) -> Iterator[Class]:
    for one in vars(importlib.import_module(module)).values():
        if inspect.isclass(one) and one.__module__ == module and names_of_tests(one):
            yield one
