"""How a model's table is written, and what proves it: the only place that decides it (decision 0037)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DERIVED, MERGE, STOCK = "derived", "merge", "stock"
REFUSED_MICROBATCH = "microbatch, refused"  # as microbatch, dbt would run each batch and say "ERROR"
REPLACES = "insert_overwrite"
MAINTAINERS = ("tidemark", "dbt")
AUTO, ALWAYS, NEVER = MAINTAIN = ("auto", "always", "never")  # values of `meta.maintain`
# settings whose effect depends on what each run found in the table, with what dbt does for them
OF_RUNS = {
    "merge_update_columns": "updates only some columns of present rows",
    "merge_exclude_columns": "updates only some columns of present rows",
    "incremental_predicates": "finds present rows only where its condition holds",
    "predicates": "finds present rows only where its condition holds",
}
STRATEGIES_OF_RUNS = {
    "append": "adds the rows of each run",
    "microbatch": "replaces batches of event_time",
    REFUSED_MICROBATCH: "replaces batches of event_time",
}


@dataclass(frozen=True)
class CodeFacts:
    """What decides about an incremental model besides its config.

    Attributes:
        asks_incremental: whether its code calls `is_incremental()`.
        reads_by_macros: whether it reads by `changes()` or `watermark_filter()`.
        package: the package it comes from, if that is not the project itself; else empty.
    """

    asks_incremental: bool = False
    reads_by_macros: bool = False
    package: str = ""


@dataclass(frozen=True)
class Way:
    """How a model's table is written.

    Attributes:
        name: `derived`: the table equals the model's query. `merge`: the engine merges what the query gives.
            `stock`: dbt-spark's own materialization runs. Empty for a model that is not incremental.
        why_unproven: why nothing proves the table, as the end of a sentence about the model; empty if
            `tidemark verify` can compare it with a rebuild.
        refused: why the model cannot run, with the fix; empty if it can.
        accumulates: whether rows stay that the query no longer gives.
    """

    name: str
    why_unproven: str = ""
    refused: str = ""
    accumulates: bool = False

    @property
    def is_stock(self) -> bool:
        """Whether dbt-spark's own materialization runs."""
        return self.name == STOCK


def way_of(config: Mapping[str, Any], facts: CodeFacts) -> Way:
    """Decide how a model is written.

    Args:
        config: the model's config.
        facts: what its code and its place say.
    """
    if config.get("materialized") != "incremental":
        return Way("")
    why = next(_reasons_for_stock(config, facts), "")
    refused = next(_refusals(config, facts, why), "")
    keeps = config.get("full_refresh") is False or (config.get("meta") or {}).get("accumulates") is True
    if refused or facts.reads_by_macros:
        return Way(MERGE, refused=refused, accumulates=keeps)
    if why:
        return Way(STOCK, why)
    if facts.asks_incremental:
        return Way(MERGE, "its SQL calls is_incremental()", accumulates=keeps)
    return Way(DERIVED, accumulates=keeps)


def stock_settings(config: Mapping[str, Any], table_format: str) -> dict[str, str]:
    """Return the settings that dbt-spark's materialization needs, and the config does not have.

    dbt-spark would make a parquet table and append to it. A lake's tables are Delta or Iceberg, and what has
    a key is merged by it.

    Args:
        config: the model's config.
        table_format: of the lake's tables, `delta` or `iceberg`.
    """
    merges = any(config.get(name) for name in ("unique_key", "merge_update_columns", "merge_exclude_columns"))
    defaults = {"file_format": table_format, "incremental_strategy": "merge" if merges else "append"}
    return {name: value for name, value in defaults.items() if not config.get(name)}


def _reasons_for_stock(config: Mapping[str, Any], facts: CodeFacts) -> Iterator[str]:
    """Yield why dbt-spark's own materialization runs a model."""
    chosen = (config.get("meta") or {}).get("maintained_by")
    if chosen == "dbt":
        yield "meta.maintained_by is dbt"
    if facts.package and chosen is None and not facts.reads_by_macros:
        yield f"the package {facts.package} maintains it, as in stock dbt"
    strategy = config.get("incremental_strategy")
    if strategy in STRATEGIES_OF_RUNS:
        yield f"incremental_strategy {strategy} {STRATEGIES_OF_RUNS[strategy]}".replace(", refused", "")
    number = _partitions(config)
    if strategy == REPLACES and number != 1 and (facts.asks_incremental or facts.reads_by_macros):
        message = f"{number or 'no'} partition_by columns"
        yield f"incremental_strategy {REPLACES} with {message} replaces what each run gives"
    yield from (f"{name} {does}" for name, does in OF_RUNS.items() if config.get(name))
    if not facts.reads_by_macros:
        yield from _reasons_of_keeping(config, facts)


def _reasons_of_keeping(config: Mapping[str, Any], facts: CodeFacts) -> Iterator[str]:
    """Yield why the rows of earlier runs are a part of a table that has no key, or is replaced in parts."""
    has_key, is_kept = config.get("unique_key"), config.get("full_refresh") is False
    if facts.asks_incremental and not has_key:
        yield "its SQL calls is_incremental(), and it has no unique_key"
    if is_kept and not has_key:
        yield "it has full_refresh: false and no unique_key, so each run adds its rows"
    if is_kept and config.get("incremental_strategy") == REPLACES:
        yield "it has full_refresh: false, and keeps the partitions that its query no longer gives"


def _partitions(config: Mapping[str, Any]) -> int:
    given = config.get("partition_by") or []
    return 1 if isinstance(given, str) else len(given)


def _refusals(config: Mapping[str, Any], facts: CodeFacts, why_stock: str) -> Iterator[str]:
    """Yield the reasons why a model cannot run, each with a fix."""
    meta = config.get("meta") or {}
    choices_of = {"maintained_by": MAINTAINERS, "accumulates": (True, False), "maintain": MAINTAIN}
    for name, allowed in choices_of.items():
        if meta.get(name) is not None and meta[name] not in allowed:
            choices = " or ".join(str(each).lower() for each in allowed)
            yield f"meta.{name} is {meta[name]}. Set it to {choices}."
    if meta.get("accumulates") and config.get("incremental_strategy") == REPLACES:
        yield "meta.accumulates keeps rows, and insert_overwrite replaces partitions. Use the strategy merge."
    if meta.get("accumulates") and not config.get("unique_key"):
        yield "meta.accumulates needs a unique_key, by which present rows are found. Set it."
    if meta.get("maintain") and (facts.reads_by_macros or facts.asks_incremental or why_stock):
        yield (
            "meta.maintain chooses how a plain query is maintained, and this model is not one "
            "(docs/plain_models.md). Remove it."
        )
    if facts.reads_by_macros and why_stock:
        yield (
            f"{why_stock}, but the model reads by changes() or watermark_filter(), whose rows must all be "
            "merged. Remove the setting, or read by plain ref() and source()."
        )
    if facts.reads_by_macros and not config.get("unique_key"):
        yield (
            "unique_key is not set, and the model reads by changes() or watermark_filter(), whose rows are "
            "merged by it. Set it to the columns of the grain: {{ config(unique_key=[...]) }}."
        )
