"""Each requirement has a test: its group by a marker, its number in the docstring's first line."""

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT

# the highest number in each group
GROUPS = {"R1": 5, "R2": 4, "R3": 7, "R4": 5, "R5": 5}
WANTED = {f"{group}.{number}" for group, last in GROUPS.items() for number in range(1, last + 1)}


def _markers(expression: ast.expr) -> set[str]:
    """The groups, and `core`, among `pytest.mark.…`, alone or in a list; `formats(core=…)` is `core`."""
    known = (*GROUPS, "core")
    parts = list(ast.walk(expression))
    marks = {part.attr for part in parts if isinstance(part, ast.Attribute) and part.attr in known}
    return marks | {part.arg for part in parts if isinstance(part, ast.keyword) and part.arg == "core"}


def _tests() -> Iterator[tuple[str, set[str], str]]:
    """Where a test is, its groups and `core`, and its docstring's first line."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        shared = [
            node.value
            for node in module.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        ]
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                groups = set().union(*map(_markers, [*shared, *node.decorator_list]))
                first, *_ = (ast.get_docstring(node) or "").splitlines() or [""]
                yield f"{path.relative_to(ROOT)}::{node.name}", groups, first


def _numbers(line: str) -> set[str]:
    """The numbers in a line, `R1.1-R1.4` being four of them."""
    numbers = set(re.findall(r"\bR\d\.\d\b", line))
    for group, first, last in re.findall(r"\b(R\d)\.(\d)-R\d\.(\d)\b", line):
        numbers |= {f"{group}.{number}" for number in range(int(first), int(last) + 1)}
    return numbers


def test_each_requirement_has_a_test() -> None:
    """`pytest -m R4` finds a test for each number of the group."""
    shown = {number for _, groups, line in _tests() for number in _numbers(line) if number[:2] in groups}
    assert sorted(WANTED - shown) == []


def test_make_test_shows_each_requirement() -> None:
    """Of the tests for each number one at least is marked `core`."""
    shown = {number for _, marks, line in _tests() if "core" in marks for number in _numbers(line)}
    assert sorted(WANTED - shown) == []


def test_numbers_and_markers_agree() -> None:
    """A test that names a requirement is found by the marker of its group."""
    unmarked = {
        where: sorted(lacking)
        for where, groups, line in _tests()
        if (lacking := {number[:2] for number in _numbers(line)} - groups)
    }
    assert unmarked == {}
