"""The variables with which tables were built are found among the recorded runs."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.engine.built_with import Variables, variables_of

pytestmark = [pytest.mark.R1]


def run(name: str, values: str, models: list[str] | None = None, **more: Any) -> dict[str, Any]:
    found = {"invocation_id": name, "command": "run", "vars": values, "models": models, "undone_runs": None}
    return {**found, **more}


FIRST = run("first", '{"factor": 3}', ["a", "b"])


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([], {"a": {"factor": 3}, "b": {"factor": 3}}),
        ([run("next", '{"factor": 4}', ["b"])], {"a": {"factor": 3}, "b": {"factor": 4}}),
        ([run("next", "{}", ["b"])], {"a": {"factor": 3}, "b": {}}),
        ([run("next", '{"factor": 4}', None)], {"a": {"factor": 3}, "b": {"factor": 3}}),
        (
            [
                run("next", '{"factor": 4}', ["b"]),
                run("back", "{}", ["b"], command="undo", undone_runs=["next"]),
            ],
            {"a": {"factor": 3}, "b": {"factor": 3}},
        ),
        ([run("range", '{"rebuild_from": "2025-01-01"}', ["b"])], {"a": {"factor": 3}, "b": {"factor": 3}}),
        (
            [run("audited", '{"audit": true, "tidemark_purpose": "x", "size": [1]}', ["b"])],
            {"a": {"factor": 3}, "b": {"size": [1]}},
        ),
    ],
)
def test_each_table_has_the_variables_of_the_run_that_built_it(
    later: list[dict[str, Any]], expected: dict[str, dict[str, Any]]
) -> None:
    """R1.5: not those of a run that wrote nothing, was undone or rebuilt a part; nor the engine's own."""
    found = variables_of([FIRST, *later])
    assert {table: variables.values for table, variables in found.items()} == expected


def test_a_secret_is_asked_for() -> None:
    """R1.5: its value is not recorded, in maps neither; what is given counts instead."""
    (variables,) = variables_of([run("one", '{"x": 1, "api": {"key": "***"}}', ["a"])]).values()
    assert variables == Variables({"x": 1}, frozenset({"api"}))
    given = variables.with_given({"api": {"key": "k"}, "x": 2})
    assert given == Variables({"x": 2, "api": {"key": "k"}})
    assert given.group != variables.group
