"""How dbt writes the rows of an incremental model: its strategy and what goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidemark.engine.project.declared_keys import plain

APPEND, MERGE, DELETE_INSERT = "append", "merge", "delete+insert"
OVERWRITE, MICROBATCH = "insert_overwrite", "microbatch"
STRATEGIES = (APPEND, MERGE, DELETE_INSERT, OVERWRITE, MICROBATCH)
# without `incremental_strategy`; dbt-spark appends even with a `unique_key`
DEFAULTS = {"spark": APPEND, "bigquery": MERGE, "snowflake": MERGE, "databricks": MERGE, "trino": APPEND}
BY_KEY = {"postgres": DELETE_INSERT, "redshift": DELETE_INSERT, "duckdb": DELETE_INSERT}
REFUSED = (
    "incremental_predicates",
    "predicates",
    "replace_where",
    "matched_condition",
    "not_matched_condition",
    "not_matched_by_source_action",
    "skip_matched_step",
    "skip_not_matched_step",
)
# how adapters write a batch of microbatch; others delete the batch's time and insert
BATCHES = {"spark": OVERWRITE, "bigquery": OVERWRITE, "postgres": MERGE}
GRAINS = ("hour", "day", "month", "year")


class UnsupportedSettingError(Exception):
    """A setting whose effect is not computed; the end of a sentence about it."""


@dataclass(frozen=True)
class Settings:
    """How a model's rows are written.

    Attributes:
        strategy: one of `STRATEGIES`.
        key: the columns of `unique_key`; empty without one.
        updated: the columns that a match updates; None for all.
        partitions: the columns of `partition_by`, each with the part of a time that counts, or empty.
        replaced: expressions of the partitions that are always replaced; empty for those of the new rows.
        event_time, batch_size, lookback: those of microbatch.
        batches_by: the strategy by which a batch is written.
        null_stays: whether rows of a partition NULL are never replaced.
    """

    strategy: str
    key: tuple[str, ...] = ()
    updated: tuple[str, ...] | None = None
    partitions: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = ()
    event_time: str = ""
    batch_size: str = ""
    lookback: int = 1
    batches_by: str = DELETE_INSERT
    null_stays: bool = False

    @property
    def words(self) -> str:
        """The strategy and what it goes by."""
        if self.strategy == MICROBATCH:
            return f"microbatch by {self.event_time}, {self.batch_size}, lookback {self.lookback}"
        if self.strategy == OVERWRITE:
            names = ", ".join(name for name, _ in self.partitions)
            return f"insert_overwrite by {names}" if names else "insert_overwrite of the whole table"
        ignored = self.strategy == APPEND and self.key
        key = f" on {', '.join(self.key)}" if self.key and not ignored else ""
        return f"{self.strategy}{key}{'; unique_key has no effect' if ignored else ''}"


def settings_of(node: Any, kind: str) -> Settings:
    """Return how an adapter writes a model.

    Args:
        node: the model's node.
        kind: the type of the adapter.

    Raises:
        UnsupportedSettingError: if a setting's effect is not computed here.
    """
    config = node.config
    key = _key(config.unique_key)
    strategy = config.incremental_strategy or _default(kind, key)
    if strategy == "default":
        strategy = _default(kind, key)
    if strategy not in STRATEGIES:
        raise UnsupportedSettingError(
            f"its incremental_strategy {strategy} is none of {', '.join(STRATEGIES)}"
        )
    for name in REFUSED:
        if config.get(name):
            raise UnsupportedSettingError(f"it has {name}, whose effect is not computed here")
    if config.get("on_schema_change") not in (
        None,
        "ignore",
        "fail",
        "append_new_columns",
        "sync_all_columns",
    ):
        raise UnsupportedSettingError(f"on_schema_change: {config.get('on_schema_change')} is not known")
    if getattr(config, "full_refresh", None) is True:
        raise UnsupportedSettingError("it has full_refresh: true, so each run is a full refresh")
    batches = strategy == MICROBATCH
    by = BATCHES.get(kind, DELETE_INSERT)
    overwrites = strategy == OVERWRITE or (batches and by == OVERWRITE)
    partitions = _partitions(config.get("partition_by")) if overwrites else ()
    if batches and ((by == OVERWRITE and not partitions) or (by == MERGE and not key)):
        needed = "partition_by" if by == OVERWRITE else "unique_key"
        raise UnsupportedSettingError(f"dbt refuses microbatch on {kind} without {needed}")
    return Settings(
        strategy,
        key,
        _updated(config),
        partitions,
        tuple(map(str, config.get("partitions") or ())) if strategy == OVERWRITE else (),
        plain(getattr(config, "event_time", None) or "") if batches else "",
        str(getattr(config.batch_size, "value", config.batch_size)) if batches else "",
        int(config.lookback or 0) if batches else 0,
        by,
        kind == "bigquery",
    )


def columns_of(settings: Settings) -> list[str]:
    """Return the columns that a model's query must have, for how it is written."""
    return [*settings.key, *(name for name, _ in settings.partitions), *filter(None, [settings.event_time])]


def _default(kind: str, key: tuple[str, ...]) -> str:
    if kind in BY_KEY:
        return BY_KEY[kind] if key else APPEND
    if kind not in DEFAULTS:
        raise UnsupportedSettingError(
            f"it has no incremental_strategy, and the default of {kind} is not known"
        )
    return DEFAULTS[kind]


def _key(setting: Any) -> tuple[str, ...]:
    names = [setting] if isinstance(setting, str) else list(setting or ())
    key = tuple(plain(name) for name in names)
    if any(not name.isidentifier() for name in key):
        raise UnsupportedSettingError(f"its unique_key {', '.join(names)} is no list of columns")
    return key


def _updated(config: Any) -> tuple[str, ...] | None:
    only, but = config.get("merge_update_columns"), config.get("merge_exclude_columns")
    if but:
        return ("-", *(plain(one) for one in ([but] if isinstance(but, str) else but)))
    return tuple(plain(one) for one in ([only] if isinstance(only, str) else only)) if only else None


def _partitions(setting: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(setting, dict):
        if setting.get("range"):
            raise UnsupportedSettingError(
                "it is partitioned by ranges of numbers, which are not computed here"
            )
        grain = "" if setting.get("data_type") == "date" and not setting.get("granularity") else "day"
        return ((plain(setting["field"]), str(setting.get("granularity") or grain)),)
    names = [setting] if isinstance(setting, str) else list(setting or ())
    if any(not plain(name).isidentifier() for name in names):
        raise UnsupportedSettingError(f"partition_by {', '.join(map(str, names))} is no list of columns")
    return tuple((plain(name), "") for name in names)
