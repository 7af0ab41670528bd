"""What of a run cannot be compared by digests, so that the run is not remembered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.engine.project.model_code import code_of
from tidemark.engine.project.nodes import VIEWS, stored, table_of

KINDS = ("model", "snapshot", "test")
CONSTANT = ("seed", "exposure")  # files of the project
COMPARED = ("incremental", "table", "snapshot", "test", *VIEWS)
ENGINE = "dbt_tidemark"
EARLIER = re.compile(r"\b(state|result|source_status):")  # selectors that read earlier artifacts
FUNCTIONS = ("table_changes", "range", "explode", "stack", "inline")
Name = tuple[str, str]


def obstacles(manifest: Any, nodes: Iterable[Any], selection: Sequence[str], lake: Path) -> Iterator[str]:
    """Yield why another run may have other results though no file of the project, a feed or the lake changed.

    Args:
        manifest: dbt's manifest.
        nodes: the nodes that the run built or tested, with their compiled code.
        selection: dbt's selectors.
        lake: the folder of the lake.
    """
    if EARLIER.search(" ".join(selection)):
        yield "the selection depends on earlier runs"
    operations = [one for one in manifest.nodes.values() if one.resource_type == "operation"]
    if any(one.package_name != ENGINE for one in operations):
        yield "the project has hooks"
    tables = {_name(one) for one in (*manifest.sources.values(), *stored(manifest))}
    models = [one for one in manifest.nodes.values() if one.resource_type == "model"]
    views = {_name(one) for one in models if one.config.materialized in VIEWS}
    known = views | {name for name in tables if _is_in(lake, name)}
    for node in nodes:
        if (reason := _obstacle(manifest, node, known)) is not None:
            yield f"{node.name} {reason}"


def _obstacle(manifest: Any, node: Any, known: Collection[Name]) -> str | None:
    """Return why a node may give another result; None for no reason."""
    if node.resource_type in CONSTANT:
        return None
    if node.resource_type not in KINDS:
        return f"is a {node.resource_type}"
    config = node.config
    reasons = {
        f"is materialized as {config.materialized}": str(config.materialized) not in COMPARED,
        "is not in SQL": getattr(node, "language", "sql") != "sql",
        "has hooks": getattr(config, "pre_hook", None) or getattr(config, "post_hook", None),
        "has batches by the clock": config.get("incremental_strategy") == "microbatch",
    }
    if found := [reason for reason, holds in reasons.items() if holds]:
        return found[0]
    if unsettled := code_of(manifest, node.unique_id)["unsettled"]:
        return f"uses `{unsettled}`"
    other = _reads_outside(node, known)
    return f"reads {other}" if other else None


def _reads_outside(node: Any, known: Collection[Name]) -> str | None:
    """Return a relation of a node's compiled code that is not a table of the lake; None if there is none."""
    try:
        trees = [tree for tree in sqlglot.parse(node.compiled_code or "", dialect="spark") if tree]
    except SqlglotError:
        return "what cannot be told"
    tables = (one for tree in trees for one in tree.find_all(exp.Table) if not one.find_ancestor(exp.Hint))
    return next((table.sql("spark") for table in tables if not _is_inside(table, known)), None)


def _is_inside(table: exp.Table, known: Collection[Name]) -> bool:
    """Return whether what stands in a FROM is a table of the lake, a CTE, or a function of these."""
    if isinstance(table.this, exp.Anonymous):
        return table.this.name.lower() in FUNCTIONS
    if not isinstance(table.this, exp.Identifier):
        return True  # a function of values, which sqlglot knows
    if table.db:
        return (table.db.lower(), table.name.lower()) in known
    return any(cte.alias.lower() == table.name.lower() for cte in table.root().find_all(exp.CTE))


def _name(node: Any) -> Name:
    schema, _, name = table_of(node).lower().rpartition(".")
    return schema, name


def _is_in(lake: Path, name: Name) -> bool:
    """Return whether a table has its folder in the lake, of either format."""
    schema, table = name
    places = (lake / "warehouse" / f"{schema}.db" / table, lake / "iceberg" / schema / table)
    return any(place.is_dir() for place in places)
