"""The nodes of dbt's manifest, and their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tidemark.base.errors import TidemarkError

VIEWS = ("view", "ephemeral")


def table_of(node: Any) -> str:
    """Return the table of a model, seed, snapshot or source, as `schema.name`."""
    return f"{node.schema}.{getattr(node, 'identifier', None) or getattr(node, 'alias', '')}"


def stored(manifest: Any) -> list[Any]:
    """Return the models, seeds and snapshots that have a table."""
    return [node for node in _relations(manifest) if node.config.materialized not in VIEWS]


def _relations(manifest: Any) -> list[Any]:
    return [node for node in manifest.nodes.values() if node.resource_type in ("model", "seed", "snapshot")]


def stored_node(manifest: Any, name: str) -> Any:
    """Return the model, seed or snapshot whose table has a name.

    Args:
        manifest: dbt's manifest.
        name: `name` or `schema.name`.

    Raises:
        TidemarkError: if there is none, or more than one.
    """
    named = [node for node in _relations(manifest) if name in (node.name, node.alias, table_of(node))]
    found = [node for node in named if node.config.materialized not in VIEWS]
    if named and not found:
        kind = str(named[0].config.materialized)
        raise TidemarkError(f"{name} has no rows of its own: its materialization is {kind}.", "Name a table.")
    if len(found) != 1:
        many = ", ".join(table_of(node) for node in found)
        raise TidemarkError(
            f"{len(found)} tables are called {name}: {many}." if found else f"No model builds {name}.",
            "Give schema.name." if found else "`dbt ls --resource-type model` lists the models.",
        )
    return found[0]


def read_nodes(manifest: Any, node: Any) -> list[Any]:
    """Return the sources, models, seeds and snapshots that a node names."""
    found = [manifest.sources.get(name) or manifest.nodes.get(name) for name in node.depends_on.nodes]
    return [below for below in found if below is not None]


def with_readers(manifest: Any, ids: Collection[str]) -> set[str]:
    """Return the ids of nodes, and of all that read them, directly or not.

    Args:
        manifest: dbt's manifest.
        ids: unique ids of nodes or sources.
    """
    found, size = {*ids}, 0
    while size < len(found):
        size = len(found)
        found |= {name for name, one in manifest.nodes.items() if not found.isdisjoint(one.depends_on_nodes)}
    return found


def is_ephemeral(node: Any) -> bool:
    """Return whether dbt writes a node's SQL into what reads it."""
    return bool(node.resource_type == "model" and node.config.materialized == "ephemeral")


def sources_below(manifest: Any, node: Any) -> Iterator[Any]:
    """Yield the sources that a node reads, directly and through ephemeral models."""
    for below in read_nodes(manifest, node):
        if below.resource_type == "source":
            yield below
        elif is_ephemeral(below):
            yield from sources_below(manifest, below)


def tables_below(manifest: Any, node: Any) -> Iterator[str]:
    """Yield the tables that a model reads, directly and through views."""
    for below in read_nodes(manifest, node):
        if below.resource_type == "model" and below.config.materialized in VIEWS:
            yield from tables_below(manifest, below)
        else:
            yield table_of(below)
