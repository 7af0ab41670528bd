"""The tables that depend on a feed, and how the rows of a person leave each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.feeds.declarations import Feed
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import VIEWS, table_of, with_readers
from tidemark.lake.hidden_rows import hidden_rows
from tidemark.lake.stage_tables import SUFFIX, stage_tables
from tidemark.lake.table_format import DELTA, table_exists, table_format
from tidemark.lake.versions_by_format import signed
from tidemark.operate.erasure.person import Person, matches_person

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY_COLUMNS = "erasure_key"  # in `meta`: the column of the table for each column of the feed's key
VIEW = "_tidemark_person"
TEST = "test"
DEPENDING = ("model", "snapshot", TEST)
BATCH = "dropped with all rows: a batch that failed an audit"
STAGE = "dropped with all rows: a stage of a model, which the next run makes anew"
FAILURES = "dropped with all rows: failures of a test, which `dbt test --store-failures` writes again"


@dataclass(frozen=True)
class Dependent:
    """A table that depends on a feed.

    Attributes:
        table: `schema.name`.
        node: the name of the model or snapshot.
        keeps: whether it keeps rows that its source no longer has, so that a run does not remove them.
        columns: its column for each column of the key; None if it lacks one.
    """

    table: str
    node: str
    keeps: bool
    columns: Mapping[str, str] | None

    @property
    def planned(self) -> str:
        """What an erasure does with it, in words."""
        if self.keeps and self.columns is None:
            return "it keeps earlier rows and has no column of the key: set meta.erasure_key; only searched"
        if self.keeps and self.columns is not None:
            return (
                f"rows deleted by {', '.join(self.columns.values())}: it keeps what its source no longer has"
            )
        return "built again from its sources"


def copies(spark: SparkSession, project: Project, person: Person) -> dict[str, str]:
    """Return the tables to drop, with what they are.

    They are batches that failed an audit, failures of tests, and stages of models.

    Args:
        spark: the session.
        project: the project.
        person: the person.
    """
    found = {}
    for node in nodes_below(project, person.feed):
        is_test = node.resource_type == TEST
        table = table_of(node) if is_test else failed_batch(project, table_of(node))
        if table_exists(spark, table) and not is_view(spark, table):
            found[table] = FAILURES if is_test else BATCH
        if not is_test:
            stages = stage_tables(spark, node.schema).items()
            found |= {stage: STAGE for stage, model in stages if model == table_of(node).lower()}
    return found


def unmanaged_tables(spark: SparkSession, project: Project, person: Person) -> list[Dependent]:
    """Return the tables with the columns of the key that no model writes, such as those of deleted models.

    They are searched in the schemas of the project, but for those of the state tables.
    """
    known = {table.lower() for table in project.tables}
    schemas = {table.partition(".")[0] for table in project.tables} | {project.audit_schema}
    schemas |= {f"{schema}{SUFFIX}" for schema in schemas}  # of stages
    schemas |= {node.schema for node in project.manifest.nodes.values() if node.resource_type == TEST}
    found = []
    for schema in sorted(schemas - {project.ops_schema}):
        if not spark.catalog.databaseExists(f"{spark.catalog.currentCatalog()}.{schema}"):
            continue
        for row in spark.sql(f"show tables in `{schema}`").where("not isTemporary").collect():
            table = f"{schema}.{row['tableName']}"
            if table.lower() in known or is_view(spark, table):
                continue
            columns = {column: column for column in person.key}
            has_all = set(columns) <= set(spark.table(table).columns)
            found.append(Dependent(table, "", True, columns if has_all else None))
    return found


def is_view(spark: SparkSession, table: str) -> bool:
    """Return whether a name of the catalog is a view, which has no rows of its own."""
    return spark.catalog.getTable(f"{spark.catalog.currentCatalog()}.{table}").tableType == "VIEW"


def failed_batch(project: Project, table: str) -> str:
    """Return the table with the batch of a model that has failed its audit (macros/audit/audit.sql).

    Args:
        project: the project.
        table: the model's table, `schema.name`.
    """
    return f"{project.audit_schema}.{table.replace('.', '_')}"


def source_of(project: Project, feed: Feed) -> Any:
    """Return the feed's node in dbt's manifest."""
    sources = project.manifest.sources.values()
    return next(node for node in sources if table_of(node) == feed.table)


def nodes_below(project: Project, feed: Feed) -> list[Any]:
    """Return the models, snapshots and tests that depend on a feed."""
    below = with_readers(project.manifest, [source_of(project, feed).unique_id])
    nodes = project.manifest.nodes.values()
    return [node for node in nodes if node.resource_type in DEPENDING and node.unique_id in below]


def dependents(spark: SparkSession, project: Project, person: Person) -> list[Dependent]:
    """Return the tables that exist and depend on the person's feed, in the order of their names."""
    found = []
    for node in nodes_below(project, person.feed):
        table = table_of(node)
        is_stored = node.resource_type != TEST and node.config.materialized not in VIEWS
        if is_stored and table_exists(spark, table):
            renamed = node.config.meta.get(KEY_COLUMNS) or {}
            columns = {column: str(renamed.get(column, column)) for column in person.key}
            has_all = set(columns.values()) <= set(spark.table(table).columns)
            is_snapshot = node.resource_type == "snapshot"
            found.append(Dependent(table, node.name, is_snapshot, columns if has_all else None))
    return sorted(found, key=lambda one: one.table)


def rows_of(spark: SparkSession, person: Person, dependent: Dependent) -> int:
    """Return how many rows of the person a table has, by the columns of the key; 0 if it lacks one."""
    if dependent.columns is None:
        return 0
    rows = spark.table(dependent.table)
    joined = rows.crossJoin(f.broadcast(person.view(spark)))
    return joined.where(matches_person(person, dict(rows.dtypes), dependent.columns)).count()


def delete_rows(spark: SparkSession, person: Person, dependent: Dependent, *, as_run: bool = False) -> int:
    """Delete the rows of the person from a table, in one commit that does not hold the key.

    Args:
        spark: the session.
        person: the person.
        dependent: the table.
        as_run: whether the engine takes the commit for one of its own runs.

    Returns:
        The number of deleted rows; if it is 0, nothing is committed.
    """
    number = rows_of(spark, person, dependent)
    if not number or dependent.columns is None:
        return 0
    types = dict(spark.table(dependent.table).dtypes)
    conditions = []
    for position, column in enumerate(person.key):
        name = dependent.columns[column]
        one, value = f"present.`{name}`", f"person._key_{position}"
        text = f"trim({one})" if types[name] == "string" else one
        other = value if types[name] == "string" else f"try_cast({value} as {types[name]})"
        conditions.append(f"{text} = {other}")
    is_signed = as_run and table_format(spark) == DELTA
    person.view(spark).createOrReplaceTempView(VIEW)
    try:
        with signed(spark, "tidemark") if is_signed else nullcontext():
            spark.sql(
                f"merge into {dependent.table} as present using {VIEW} as person "
                f"on {' and '.join(conditions)} when matched then delete"
            )
    finally:
        spark.catalog.dropTempView(VIEW)
    return number


def has_values(spark: SparkSession, table: str, values: Mapping[str, list[str]]) -> dict[str, int]:
    """Return how many rows of a table have one of the values in the column of the same name.

    Args:
        spark: the session.
        table: `schema.name`.
        values: by column.
    """
    rows = spark.table(table)
    found = {}
    for column, some in values.items():
        if some and dict(rows.dtypes).get(column) == "string":
            listed = f.broadcast(hidden_rows(spark, "_value string", [[value] for value in some]))
            same = f.trim(f.col(column)) == f.col("_value")
            if number := rows.select(column).join(listed, on=same, how="left_semi").count():
                found[column] = number
    return found
