"""What a project declares of a table: columns that tell its rows apart, and values that its columns have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

UNIQUE = ("unique",)
TOGETHER = ("unique_combination_of_columns", "expect_compound_columns_to_be_unique")
LISTED = ("combination_of_columns", "column_list", "columns")

Key = tuple[str, ...]


def tests_of(manifest: Any, node: Any) -> Iterator[Any]:
    """Yield the generic tests of a model, seed, snapshot or source.

    Args:
        manifest: dbt's manifest.
        node: the node; None yields nothing.
    """
    if node is None:
        return
    for test in manifest.nodes.values():
        if _kind(test) != "test" or not getattr(test, "test_metadata", None):
            continue
        # dbt leaves `attached_node` empty for tests of sources
        tested = getattr(test, "attached_node", None) or next(iter(test.depends_on.nodes), None)
        if tested == node.unique_id:
            yield test


def declared_keys(manifest: Any, node: Any) -> list[Key]:
    """Return the sets of columns that tell a table's rows apart, in lower case; the best known first.

    A model's `unique_key` comes first, then primary keys and unique constraints of enforced contracts, then
    tests. A test with a `where`, or one that only warns, tells nothing of all rows.

    Args:
        manifest: dbt's manifest.
        node: the model, seed, snapshot or source; None has no keys.
    """
    if node is None:
        return []
    found = [*_configured(node), *_constrained(node)]
    for test in tests_of(manifest, node):
        if getattr(test.config, "where", None) or str(test.config.severity).lower() == "warn":
            continue
        name, given = test.test_metadata.name, test.test_metadata.kwargs
        if name in UNIQUE:
            found.append(_key(test.column_name or given.get("column_name")))
        elif name in TOGETHER:
            found.append(_key(next((given[one] for one in LISTED if given.get(one)), None)))
    return list(dict.fromkeys(key for key in found if key))


def declared_values(manifest: Any, node: Any) -> dict[str, list[Any]]:
    """Return the values that `accepted_values` tests name, by column in lower case.

    Args:
        manifest: dbt's manifest.
        node: the model, seed, snapshot or source; None has none.
    """
    found: dict[str, list[Any]] = {}
    for test in tests_of(manifest, node):
        given = test.test_metadata.kwargs
        column = test.column_name or given.get("column_name")
        if test.test_metadata.name == "accepted_values" and column:
            found[plain(column)] = list(given.get("values") or [])
    return found


def never_null(node: Any) -> frozenset[str]:
    """Return the columns with a `not_null` constraint of an enforced contract, in lower case.

    Args:
        node: the model, seed, snapshot or source; None has none.
    """
    return frozenset(
        plain(column.name)
        for column in (node.columns.values() if _is_enforced(node) else ())
        if any(_type(one) in ("not_null", "primary_key") for one in constraints_of(column))
    )


def checks_of(node: Any) -> tuple[str, ...]:
    """Return the `check` constraints of an enforced contract, as SQL."""
    columns = node.columns.values() if _is_enforced(node) else ()
    given = [one for column in columns for one in constraints_of(column)]
    given += constraints_of(node) if _is_enforced(node) else []
    return tuple(one.expression for one in given if _type(one) == "check" and one.expression)


def constraints_of(holder: Any) -> list[Any]:
    """Return the constraints of a column, or of a whole model."""
    return list(getattr(holder, "constraints", None) or [])


def plain(column: Any) -> str:
    """Return a column's name in lower case, without quotes."""
    return str(column).strip('`"').lower()


def _configured(node: Any) -> Iterator[Key]:
    if _kind(node) == "model":
        yield _key(getattr(node.config, "unique_key", None))


def _constrained(node: Any) -> Iterator[Key]:
    if not _is_enforced(node):
        return
    for one in constraints_of(node):
        if _type(one) in ("primary_key", "unique"):
            yield _key(one.columns)
    for column in node.columns.values():
        if any(_type(one) in ("primary_key", "unique") for one in constraints_of(column)):
            yield _key(column.name)


def _is_enforced(node: Any) -> bool:
    contract = getattr(node.config, "contract", None) if node is not None else None
    return contract is not None and bool(contract.enforced)


def _kind(node: Any) -> str:
    return str(getattr(node.resource_type, "value", node.resource_type))


def _type(constraint: Any) -> str:
    return str(getattr(constraint.type, "value", constraint.type))


def _key(setting: Any) -> Key:
    if not setting:
        return ()
    return tuple(plain(one) for one in ([setting] if isinstance(setting, str) else setting))
