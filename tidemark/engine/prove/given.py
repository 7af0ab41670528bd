"""What unit tests of dbt say of the tables that models read."""

from __future__ import annotations

from typing import Any

from tidemark.engine.project.declared_keys import declared_values


def given_as(node: Any) -> str:
    """Return how a unit test names a table."""
    if node is None:
        return ""
    if node.resource_type == "source":
        return f"source('{node.source_name}', '{node.name}')"
    return f"ref('{node.name}')"


def values_of(manifest: Any, node: Any) -> dict[str, list[Any]]:
    """Return the values of columns that `accepted_values` tests and the rows of unit tests name."""
    found = declared_values(manifest, node)
    for unit in manifest.unit_tests.values():
        for given in unit.given:
            if given.input.replace('"', "'") == given_as(node) and isinstance(given.rows, list):
                for row in given.rows:
                    for column, value in row.items():
                        found.setdefault(column.lower(), []).append(value)
    return found
