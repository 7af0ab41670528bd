"""The models of a dbt project for `tidemark prove`: their queries, and what is declared of their sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from python_ingest.incremental.analysis import checked
from python_ingest.incremental.parse import parse
from python_ingest.incremental.proven_key import proven_key
from python_ingest.incremental.session_catalog import SessionCatalog, types_of
from python_ingest.incremental.tree import leaves
from python_ingest.incremental.unsupported import Unsupported
from python_ingest.project.compiled_models import NOTE, compiled_nodes, model_selectors, no_model
from python_ingest.project.model_way import keys_below, model_way
from python_ingest.project.nodes import VIEWS, table_of
from python_ingest.prove.drawing import Table
from python_ingest.prove.proof import Model
from python_ingest.sqlcheck.models import findings_of

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
    from dbt.cli.main import dbtRunner

    selected = model_selectors(selection)
    nodes = compiled_nodes(manifest, [f"+{name}" for name in selected])
    if not nodes and selection:
        raise no_model(manifest, selection)
    listing = ["--log-level", "none", "ls", "--select", *selected, "--output", "name"]
    listed: Any = dbtRunner(manifest).invoke(listing).result
    chosen = set(listed or [])
    tables = {table_of(node).lower(): node for node in _all_nodes(manifest)}
    for node in [*manifest.sources.values(), *manifest.nodes.values()]:
        if node.resource_type in ("source", "seed", "snapshot"):
            _create_empty(spark, node)
    for node in nodes:
        if node.name in chosen and node.config.materialized == "incremental":
            yield _candidate(spark, manifest, node, tables)
        _create_empty(spark, node, node.compiled_code)


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
    if not key and not _partition(node):
        return Candidate(name, None, "computed in full: its query tells no key", findings)
    model = Model(
        node.name,
        name,
        parsed.tree,
        key,
        types_of(spark, node.compiled_code),
        sources,
        _partition(node),
    )
    return Candidate(name, model, "", findings)


def _partition(node: Any) -> str:
    overwrites = node.config.get("incremental_strategy") == "insert_overwrite"
    return _columns(node.config.get("partition_by"))[0] if overwrites else ""


def _columns(setting: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the column or columns of a setting, in lower case."""
    return tuple(one.lower() for one in ([setting] if isinstance(setting, str) else setting or []))


def _table(manifest: Any, name: str, columns: dict[str, str], node: Any) -> Table:
    """Return what the project declares of a table."""
    key = node.config.get("unique_key") if node is not None and node.resource_type == "model" else None
    declared = {column.name.lower(): column for column in node.columns.values()} if node is not None else {}
    enforced = (
        node is not None
        and getattr(node.config, "contract", None) is not None
        and node.config.contract.enforced
    )
    given = [one for column in declared.values() for one in _constraints(column)] if enforced else []
    checks = [one.expression for one in given if str(one.type.value) == "check"]
    never_null = {
        column
        for column, one in declared.items()
        if enforced and any(c.type.value == "not_null" for c in _constraints(one))
    }
    return Table(
        name,
        columns,
        _columns(key or _unique(manifest, node)),
        frozenset(never_null),
        tuple(checks),
        _values(manifest, node),
        _given(node),
    )


def _given(node: Any) -> str:
    """Return how a unit test names a table."""
    if node is None:
        return ""
    if node.resource_type == "source":
        return f"source('{node.source_name}', '{node.name}')"
    return f"ref('{node.name}')"


def _constraints(column: Any) -> list[Any]:
    return list(getattr(column, "constraints", None) or [])


def _unique(manifest: Any, node: Any) -> list[str]:
    """Return the column of a `unique` test of a seed or a source; none without one."""
    for test in _tests(manifest, node):
        if test.test_metadata.name == "unique":
            return [str(test.column_name)]
    return []


def _values(manifest: Any, node: Any) -> dict[str, list[Any]]:
    """Return the values of columns that `accepted_values` tests and the rows of unit tests name."""
    found: dict[str, list[Any]] = {}
    for test in _tests(manifest, node):
        if test.test_metadata.name == "accepted_values":
            found[str(test.column_name).lower()] = list(test.test_metadata.kwargs["values"])
    for unit in manifest.unit_tests.values():
        for given in unit.given:
            if given.input.replace('"', "'") == _given(node) and isinstance(given.rows, list):
                for row in given.rows:
                    for column, value in row.items():
                        found.setdefault(column.lower(), []).append(value)
    return found


def _tests(manifest: Any, node: Any) -> Iterator[Any]:
    if node is None:
        return
    for test in manifest.nodes.values():
        if (
            test.resource_type == "test"
            and getattr(test, "test_metadata", None)
            and test.attached_node == node.unique_id
        ):
            yield test


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
