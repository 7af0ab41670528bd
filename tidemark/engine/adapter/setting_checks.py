"""Values of dbt's model settings that an incremental model refuses, in sentences that say what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.decision.ways import REFUSED_MICROBATCH
from tidemark.engine.project.sql_header import statements_of, tables_read

STRATEGIES = ("append", "merge", "insert_overwrite", "microbatch")
SCHEMA_CHANGES = ("ignore", "append_new_columns", "sync_all_columns", "fail")
TEMPORARY = re.compile(r"create\s+(or\s+replace\s+)?temp(orary)?\s+(function|view)\b", re.IGNORECASE)
IN_SQL = re.compile(r"\bfunction\b.*\breturn\b", re.IGNORECASE | re.DOTALL)
ABSOLUTE = re.compile(r"/|[A-Za-z][\w+.-]*:/")
CLUSTERS = "Set meta.cluster_by: `tidemark maintain` orders the files by it."


@dataclass(frozen=True)
class Model:
    """What the settings of a model are checked against.

    Attributes:
        config: the model's config, as dbt resolved it.
        table_format: the lake's, `delta` or `iceberg`.
        is_stock: whether dbt-spark's own materialization runs the model.
        has_one_session: whether all statements go through one session of Spark, which has no authorizer.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    table_format: str = "delta"
    is_stock: bool = False
    has_one_session: bool = True

    @property
    def strategy(self) -> str:
        """The strategy; `merge` if none is set."""
        given = self.config.get("incremental_strategy") or "merge"
        return "microbatch" if given == REFUSED_MICROBATCH else str(given)

    @property
    def partitions(self) -> list[str]:
        """The columns of `partition_by`."""
        given = self.config.get("partition_by") or []
        return [given] if isinstance(given, str) else list(given)


def strategy(model: Model) -> str:
    """Refuse strategies that dbt-spark does not have, and microbatch without partitions."""
    given = model.strategy
    if given not in STRATEGIES:
        return (
            f"incremental_strategy is {given}: dbt could not find an incremental strategy macro with the "
            f'name "get_incremental_{given}_sql" in dbt-spark. '
            f"Use one of: {', '.join(STRATEGIES)}. Or delete the setting: rows are merged by unique_key."
        )
    if given == "microbatch" and not model.partitions:
        return (
            "incremental_strategy is microbatch, which overwrites partitions, but partition_by is not set. "
            f"Set it to a column that is constant in each {model.config.get('batch_size') or 'batch'}. "
            "Or delete incremental_strategy and batch_size: a run finds what changed by itself."
        )
    return ""


def schema_change(model: Model) -> str:
    """Refuse an unknown `on_schema_change`; dbt takes it for `ignore`."""
    given = model.config.get("on_schema_change") or "ignore"
    known = ", ".join(SCHEMA_CHANGES)
    return "" if given in SCHEMA_CHANGES else f"on_schema_change is {given}. Use one of: {known}."


def grants(model: Model) -> str:
    """Refuse grants where Spark's parser has no GRANT."""
    if not model.config.get("grants") or not model.has_one_session:
        return ""
    return (
        "grants is set, but Spark knows no GRANT without an authorizer. Delete the setting, or use a server "
        "that has one (method: thrift)."
    )


def file_format(model: Model) -> str:
    """Refuse another format than the lake's, whose changes could not be read."""
    given = str(model.config.get("file_format") or model.table_format)
    if model.is_stock or given.lower() == model.table_format:
        return ""
    return (
        f"file_format is {given}, but this target's tables are {model.table_format} (table_format in "
        "profiles.yml). Delete the setting, or set materialized to table."
    )


def buckets(model: Model) -> str:
    """Refuse buckets on Delta, and one of the two settings alone, which dbt-spark ignores."""
    given = [name for name in ("clustered_by", "buckets") if model.config.get(name)]
    if given and str(model.config.get("file_format") or model.table_format) == "delta":
        return f"{' and '.join(given)}: Delta has no buckets. Delete it. {CLUSTERS}"
    return f"{given[0]} is set without the other of clustered_by and buckets." if len(given) == 1 else ""


def location_root(model: Model) -> str:
    """Refuse a relative folder: Spark's catalog and Delta resolve it against different folders."""
    given = str(model.config.get("location_root") or "/")
    if ABSOLUTE.match(given):
        return ""
    return (
        f"location_root is {given}, a relative path, which the catalog and the writer resolve differently. "
        "Write an absolute path or a URI."
    )


def zorder(model: Model) -> str:
    """Refuse a setting that only dbt-databricks has."""
    return (
        f"zorder is a setting of dbt-databricks. Delete it. {CLUSTERS}" if model.config.get("zorder") else ""
    )


def sql_header(model: Model) -> str:
    """Refuse statements that would change the session for other models."""
    for statement in statements_of(model.config.get("sql_header")):
        if not TEMPORARY.match(statement):
            return (
                f"sql_header runs `{' '.join(statement.split())[:60]}`, which would change other "
                "models, too: they share one session. Only temporary functions and views are allowed. Write "
                "settings of Spark below server_side_parameters in profiles.yml."
            )
        if model.table_format == "delta" and IN_SQL.search(statement):
            return (
                f"sql_header runs `{' '.join(statement.split())[:60]}`, but with Delta, Spark cannot create "
                "functions in SQL. Write the expression in a macro."
            )
    if not model.is_stock and (read := tables_read(statements_of(model.config.get("sql_header")))):
        return (
            f"sql_header reads {', '.join(read)}, whose changes a run would not notice. Write that query in "
            "the model, as a CTE with source() or ref()."
        )
    return ""
