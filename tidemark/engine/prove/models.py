"""The models of a dbt project for `tidemark prove`: their queries, and what is declared of their sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.engine.dbt_core.commands import SILENT, outcome_of
from tidemark.engine.decision.ways import NEVER
from tidemark.engine.incremental.analysis import checked, staged_of
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.proven_key import proven_key
from tidemark.engine.incremental.session_catalog import SessionCatalog, types_of
from tidemark.engine.incremental.stages import ALL
from tidemark.engine.incremental.tree import leaves
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.project.compiled import NOTE
from tidemark.engine.project.compiled_models import compiled_nodes, model_selectors, no_model
from tidemark.engine.project.declared_keys import (
    checks_of,
    declared_keys,
    never_null,
)
from tidemark.engine.project.model_way import keys_below, model_way
from tidemark.engine.project.nodes import VIEWS, table_of
from tidemark.engine.prove.drawing import Table
from tidemark.engine.prove.given import given_as, values_of
from tidemark.engine.prove.proof import Model
from tidemark.engine.sqlcheck.models import allowed_rules, findings_of
from tidemark.lake.stage_tables import stage_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Candidate:
    """A model that was asked for.

    Attributes:
        name: `schema.name`.
        model: what to prove; None if it cannot be tried.
        why: why it cannot be tried.
        findings: what its SQL must not do.
    """

    name: str
    model: Model | None = None
    why: str = ""
    findings: tuple[str, ...] = ()


def candidates(spark: SparkSession, manifest: Any, selection: Sequence[str]) -> Iterator[Candidate]:
    """Compile models without their tables, and yield them in dbt's order.

    Args:
        spark: a session with an empty lake. Empty tables are created in it.
        manifest: dbt's parsed manifest.
        selection: dbt selectors; empty for all models.

    Raises:
        DbtError: if a model does not compile, or none matches.
    """
    selected = model_selectors(selection)
    nodes = compiled_nodes(manifest, [f"+{name}" for name in selected])
    if not nodes and selection:
        raise no_model(manifest, selection)
    listing = [*SILENT, "ls", "--select", *selected, "--output", "name"]
    chosen = set(outcome_of(listing, manifest).result or [])
    tables = {table_of(node).lower(): node for node in _all_nodes(manifest)}
    for node in [*manifest.sources.values(), *manifest.nodes.values()]:
        if node.resource_type in ("source", "seed", "snapshot"):
            _try_to_create(spark, node)
    for node in nodes:
        if node.name in chosen and node.config.materialized == "incremental":
            try:
                yield _candidate(spark, manifest, node, tables)
            except Exception as error:  # the other models are tried all the same
                yield Candidate(table_of(node), None, reason_of(error))
        _try_to_create(spark, node, node.compiled_code)


def reason_of(error: Exception) -> str:
    """Return in words why a model cannot be tried."""
    if isinstance(error, Unsupported):
        return f"its query has {error.where}, which cannot be computed for many histories at once"
    if isinstance(error, ValueError):
        return f"no values can be drawn of the type {error}"
    condition = getattr(error, "getCondition", lambda: None)()
    if condition or type(error).__module__.startswith(("pyspark", "py4j")):
        return f"Spark cannot compute its query on drawn rows ({condition or type(error).__name__})"
    return f"an error of Tidemark ({type(error).__name__}: {str(error).partition(chr(10))[0][:100]})"


def _try_to_create(spark: SparkSession, node: Any, sql: str = "") -> None:
    """Create an empty table or view; without it, a model that reads it is not tried."""
    with suppress(Exception):
        _create_empty(spark, node, sql)


def _candidate(spark: SparkSession, manifest: Any, node: Any, tables: dict[str, Any]) -> Candidate:
    name = table_of(node)
    findings = tuple(str(one) for one in findings_of(manifest, node.unique_id))
    if NOTE.search(node.compiled_code):
        return Candidate(name, None, "it reads by changes() or another of the engine's macros", findings)
    if why := model_way(manifest, node.unique_id).why_unproven:
        return Candidate(name, None, why, findings)
    try:
        catalog = SessionCatalog(spark)
        parsed = parse(node.compiled_code, catalog)
        checked(catalog, parsed)
        names = {leaf.table: leaf for leaf in leaves(parsed.tree)}
        sources = {
            table: _table(manifest, table, leaf.columns, tables.get(table)) for table, leaf in names.items()
        }
    except Unsupported as found:
        return Candidate(name, None, f"computed in full: {found.where}", findings)
    key = _columns(node.config.get("unique_key")) or _columns(
        proven_key(parsed.tree, keys_below(manifest, node.unique_id))
    )
    model = Model(
        node.name,
        name,
        parsed.tree,
        key,
        types_of(spark, node.compiled_code),
        sources,
        _partition(node),
        "tied_order" in allowed_rules(node.raw_code),
    )
    if (node.config.meta or {}).get("maintain") != NEVER and not model.partition:
        model = _staged(spark, model)
    return Candidate(name, model, "", findings)


def _staged(spark: SparkSession, model: Model) -> Model:
    """Return a model with its query in stages, if there are any."""
    stages = staged_of(
        model.tree,
        model.request(()),
        lambda number: stage_table(model.table, number),
        lambda sql: types_of(spark, sql),
        ALL,
    )
    return replace(model, staged=stages, prefers_stages=stages is not None)


def _partition(node: Any) -> str:
    overwrites = node.config.get("incremental_strategy") == "insert_overwrite"
    return _columns(node.config.get("partition_by"))[0] if overwrites else ""


def _columns(setting: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the column or columns of a setting, in lower case."""
    return tuple(one.lower() for one in ([setting] if isinstance(setting, str) else setting or []))


def _table(manifest: Any, name: str, columns: dict[str, str], node: Any) -> Table:
    """Return what the project declares of a table."""
    keys = [key for key in declared_keys(manifest, node) if set(key) <= columns.keys()]
    return Table(
        name,
        columns,
        keys[0] if keys else (),
        never_null(node),
        checks_of(node),
        values_of(manifest, node),
        given_as(node),
        tuple(keys[1:]),
    )


def _all_nodes(manifest: Any) -> Iterator[Any]:
    yield from manifest.sources.values()
    for node in manifest.nodes.values():
        if node.resource_type in ("model", "seed", "snapshot"):
            yield node


def _create_empty(spark: SparkSession, node: Any, sql: str = "") -> None:
    """Create an empty table, or the view, that stands for a node."""
    name = table_of(node)
    spark.sql(f"create schema if not exists {node.schema}")
    if node.resource_type == "model" and node.config.materialized in VIEWS:
        if node.config.materialized == "view":
            spark.sql(f"create or replace view {name} as {sql}")
        return
    types = {column.name: column.data_type for column in node.columns.values()}
    if node.resource_type == "source" and not all(types.values()):
        return  # a model that reads it cannot be tried
    if types and all(types.values()):
        columns = ", ".join(f"`{column}` {kind}" for column, kind in types.items())
        spark.sql(f"create table if not exists {name} ({columns}) using parquet")
    elif node.resource_type == "seed":
        rows = spark.read.csv(f"{node.root_path}/{node.original_file_path}", header=True, inferSchema=True)
        rows.limit(0).write.format("parquet").saveAsTable(name)
    elif sql:
        spark.sql(f"create table if not exists {name} using parquet as select * from ({sql}) where false")
