"""dbt's model settings, and what an incremental model does with each: docs/model_settings.md."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tidemark.engine.adapter import setting_checks as checks
from tidemark.engine.adapter.setting_checks import Model


@dataclass(frozen=True)
class Setting:
    """A setting of dbt.

    Attributes:
        name: as it is written in a model's config.
        effect: what an incremental model does with it, as the documentation says.
        check: returns why a value is refused and what to do, or an empty text.
    """

    name: str
    effect: str
    check: Callable[[Model], str] | None = None


def refusals(model: Model) -> list[str]:
    """Return a sentence for each setting that a model cannot follow."""
    message = (setting.check(model) for setting in SETTINGS if setting.check)
    return [sentence for sentence in message if sentence]


def columns_named(names: Sequence[str], columns: Collection[str]) -> list[str]:
    """Return names of a setting as the query spells them: letter case and backticks do not count.

    Args:
        names: the names of the setting; unknown ones are returned as they are.
        columns: the columns of the query.
    """
    spelled = {column.lower(): column for column in columns}
    found = []
    for name in names:
        bare = name.strip().removeprefix("`").removesuffix("`").replace("``", "`")
        found.append(spelled.get((name if name in columns else bare).lower(), name))
    return found


DBT = "as in dbt"
NEW = "for a new table and `--full-refresh`"
BATCHES = "of `microbatch` only, as in dbt"
MERGE = "dbt-spark's MERGE; the model is not proven. Refused in a model that reads by `changes()` and its kin"
DATABRICKS = "refused: a setting of dbt-databricks. Use `meta.cluster_by`"
SETTINGS = (
    Setting("enabled", DBT),
    Setting("alias", DBT),
    Setting("schema", DBT),
    Setting("database", "as in dbt-spark: not set, or the same as the schema"),
    Setting("tags", DBT),
    Setting("meta", "as in dbt. Tidemark's own settings are in it"),
    Setting("group", DBT),
    Setting("access", DBT),
    Setting("docs", DBT),
    Setting("on_error", DBT),
    Setting("latest_version_pointer", DBT),
    Setting("freshness", "read by dbt's platform only"),
    Setting("static_analysis", "read by dbt Fusion only"),
    Setting("packages", "of Python models only, as in dbt. An incremental model is SQL"),
    Setting("materialized", DBT),
    Setting("on_configuration_change", "of materialized views only, as in dbt. dbt-spark has none"),
    Setting("column_types", "of seeds only, as in dbt"),
    Setting("quoting", DBT),
    Setting("contract", "checked in each run, not only in the first. See below for new columns"),
    Setting("persist_docs", "comments on the table and its columns. Columns: written only if they differ"),
    Setting("pre_hook", DBT),
    Setting("post_hook", DBT),
    Setting(
        "sql_header",
        "temporary functions and views are created before the model's query; they may not read tables. "
        "Other statements, such as `set`, are refused",
        checks.sql_header,
    ),
    Setting("full_refresh", "`true`: each run rebuilds the table. `false`: no run rebuilds it"),
    Setting(
        "unique_key",
        "a column or a list, in any letter case, with or without backticks. NULL equals NULL. An "
        "expression is refused",
    ),
    Setting(
        "incremental_strategy",
        "`merge` (default) and `insert_overwrite`: how the difference is written. `append` and "
        "`microbatch`: "
        "dbt-spark's own; the model is not proven. Others are refused",
        checks.strategy,
    ),
    Setting("incremental_predicates", MERGE),
    Setting("predicates", "see `incremental_predicates`"),
    Setting("merge_update_columns", MERGE),
    Setting("merge_exclude_columns", MERGE),
    Setting("on_schema_change", "see below. An unknown value is refused", checks.schema_change),
    Setting("event_time", "of `microbatch` and `--sample`, as in dbt"),
    Setting("begin", BATCHES),
    Setting("batch_size", BATCHES),
    Setting("lookback", BATCHES),
    Setting("concurrent_batches", BATCHES),
    Setting(
        "grants",
        "applied after each write on a Thrift server. Refused with `method: session`: that Spark has no "
        "GRANT",
        checks.grants,
    ),
    Setting("file_format", "the format of the target's tables. Another one is refused", checks.file_format),
    Setting(
        "location_root",
        f"the folder of the table's folder, {NEW}. A relative path is refused",
        checks.location_root,
    ),
    Setting("partition_by", f"the partitions of the table, {NEW}"),
    Setting(
        "clustered_by",
        f"with `buckets`, on Iceberg, {NEW}. Refused on Delta",
        checks.buckets,
    ),
    Setting("buckets", "see `clustered_by`"),
    Setting("options", f"options of the CREATE TABLE, {NEW}"),
    Setting("tblproperties", f"properties of the table, {NEW}"),
    Setting(
        "liquid_clustered_by", "of dbt-databricks: the same as `meta.cluster_by`, for `tidemark maintain`"
    ),
    Setting("zorder", DATABRICKS, checks.zorder),
)
