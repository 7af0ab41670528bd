"""How a model of a manifest is written, and the keys of what it reads."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tidemark.engine.decision.ways import DERIVED, MERGE, CodeFacts, Way, way_of
from tidemark.engine.project.model_code import code_of, macros_below
from tidemark.engine.project.nodes import table_of

ENGINE_READS = "macro.dbt_tidemark.tidemark__change_window"  # changes() ends there


def model_way(manifest: Any, unique_id: str, reads_by_macros: bool | None = None) -> Way:
    """Decide how a model of a manifest is written.

    Args:
        manifest: dbt's manifest.
        unique_id: the model.
        reads_by_macros: whether it reads by the engine's macros, if known; None to look at its code.
    """
    node = manifest.nodes[unique_id]
    if node.config.materialized != "incremental":
        return Way("")
    if reads_by_macros is None:
        reads_by_macros = ENGINE_READS in macros_below(manifest, node)
    package = "" if node.package_name == manifest.metadata.project_name else node.package_name
    asks = node.language == "sql" and code_of(manifest, unique_id)["asks_incremental"]
    # dbt-bouncer reads dbt's manifest from its file
    config = node.config if isinstance(node.config, dict) else node.config.to_dict()
    return way_of(config, CodeFacts(asks, reads_by_macros, package))


def keys_below(manifest: Any, unique_id: str, deferred: Collection[str] = ()) -> dict[str, list[str]]:
    """Return the keys by which the tables that a model reads are written, if the model has no key.

    Args:
        manifest: dbt's manifest.
        unique_id: the model.
        deferred: the nodes in whose place the model reads tables of another state; their keys are not known.

    Returns:
        The columns by `schema.table` in lower case; empty for a model with a `unique_key` of its own.
    """
    node = manifest.nodes[unique_id]
    if node.config.get("unique_key"):
        return {}
    known = {}
    for name in node.depends_on.nodes:
        below = manifest.nodes.get(name) if name not in deferred else None
        key = below.config.get("unique_key") if below is not None and below.resource_type == "model" else None
        if key and model_way(manifest, name).name in (DERIVED, MERGE):
            known[table_of(below).lower()] = [key] if isinstance(key, str) else list(key)
    return known
