"""Print a history after which a table differs from its rebuild."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tidemark.engine.prove.drawing import Drawn, Row
from tidemark.engine.prove.proof import Model

DIFFER = ("only in the rebuild", "only in the table")
TIED = ("right in this order of the rows", "right in the opposite order")


def unit_test(
    model: Model,
    drawn: Drawn,
    rebuilt: Sequence[Row],
    differing: Sequence[Row],
    sides: tuple[str, str] = DIFFER,
) -> str:
    """Return a dbt unit test of the rebuild, with the history and the wrong rows in comments.

    Args:
        model: the model.
        drawn: one history of each source.
        rebuilt: the rows of the rebuild.
        differing: the rows that differ; `side` is positive for rows that only the rebuild has.
        sides: the labels of rows that only the rebuild has, and of the others.
    """
    lines = [*_lines(model, drawn, rebuilt)]
    for row in differing:
        lines.append(f"      # {sides[0 if row['side'] > 0 else 1]}: {flow(_without(row, 'side'))}")
    return "\n".join(lines)


def _lines(model: Model, drawn: Drawn, rebuilt: Sequence[Row]) -> Iterator[str]:
    yield "unit_tests:"
    yield f"  - name: {model.name}_equals_its_rebuild"
    yield f"    model: {model.name}"
    yield "    given:"
    for table, (history,) in drawn.items():
        yield f"      - input: {model.tables[table].given}"
        yield from (f"        # before: {flow(row)}" for row in history.previous)
        for row in history.changes:
            yield f"        # {row['_change_type']}: {flow(_without(row, '_change_type'))}"
        yield "        rows:" if history.present else "        rows: []"
        yield from (f"          - {flow(row)}" for row in history.present)
    yield "    expect:"
    yield "      rows:" if rebuilt else "      rows: []"
    yield from (f"        - {flow(row)}" for row in rebuilt)


def _without(row: Row, column: str) -> Row:
    return {name: value for name, value in row.items() if name != column}


def flow(row: Row) -> str:
    """Return a row as a YAML mapping on one line."""
    return "{" + ", ".join(f"{column}: {_scalar(value)}" for column, value in row.items()) + "}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else f'"{value}"'
