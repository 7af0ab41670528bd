"""The statements that open `ops.runs` in each state of a lake, without Spark."""

from __future__ import annotations

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.layout import (
    ADDED,
    CHECKPOINT,
    COLUMNS,
    FIRST_LAYOUT,
    VIEWS,
    fields_of,
    insert_statement,
    opening_statements,
    refuse_newer,
)

pytestmark = [pytest.mark.R1, pytest.mark.R4]


def _type(fields: dict[str, str]) -> str:
    return f"array<struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>>"


CURRENT = {**COLUMNS, "checkpoints": _type(CHECKPOINT)}
EARLIER = {name: kind for name, kind in CURRENT.items() if name != "layout"} | {
    "checkpoints": _type(FIRST_LAYOUT)
}
HALF = {**EARLIER, "checkpoints": CURRENT["checkpoints"]}
EARLIEST = {"invocation_id": "string", "started_at": "timestamp"}
CREATED = ["create or replace view ops.model_runs", "create or replace view ops.checkpoints"]
ADDS = "alter table ops.runs add columns ("


@pytest.mark.parametrize(
    ("columns", "present", "expected"),
    [
        (None, (), ["create schema", "create or replace table ops.runs using delta", *CREATED]),
        (CURRENT, VIEWS, []),
        (CURRENT, ("model_runs",), ["create view if not exists ops.checkpoints"]),
        (EARLIER, VIEWS, [f"{ADDS}checkpoints.element.kind string", *CREATED, f"{ADDS}layout int)"]),
        (HALF, VIEWS, [*CREATED, f"{ADDS}layout int)"]),
        (EARLIEST, (), [f"{ADDS}command string", *CREATED, f"{ADDS}layout int)"]),
    ],
)
def test_a_lake_is_created_or_migrated(
    columns: dict[str, str] | None, present: tuple[str, ...], expected: list[str]
) -> None:
    """R4.4: columns are only added, and the column `layout` last: what a kill left out comes next time."""
    statements = list(opening_statements("ops.runs", columns, present, "delta"))
    assert len(statements) == len(expected), statements
    for statement, start in zip(statements, expected, strict=True):
        assert statement.startswith(start)


def test_a_lake_of_a_newer_version_is_refused() -> None:
    """R4.4: by the name of the version and of what is not known."""
    for columns in (CURRENT, EARLIER, EARLIEST):
        refuse_newer("ops.runs", columns, lambda: "9.0")
    newer = {**CURRENT, "cost": "double", "checkpoints": _type({**CHECKPOINT, "branch": "string"})}
    with pytest.raises(TidemarkError, match=r"newer version of Tidemark \(9\.0\).* branch, cost\."):
        refuse_newer("ops.runs", newer, lambda: "9.0")


def test_fields_are_read_from_a_type() -> None:
    """The types are as Spark writes them, without spaces."""
    assert fields_of(CURRENT) == set(CHECKPOINT)
    assert fields_of(EARLIER) == set(CHECKPOINT) - set(ADDED)
    assert fields_of(EARLIEST) == set()


def test_a_row_is_a_literal() -> None:
    """R4.4: a quote or a backslash in a message does not end the text."""
    statement = insert_statement("ops.runs", {"invocation_id": "a", "command": "it's \\ so"})
    assert r"it\'s \\\\ so" in statement
    assert '"layout": 2' in statement
