"""What dbt's incremental strategies make of a table's rows."""

from __future__ import annotations

from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tidemark.engine.prove.stock.settings import Settings, UnsupportedSettingError, settings_of
from tidemark.engine.prove.stock.writing import RunFailsError, written

pytestmark = pytest.mark.R2
OLD = [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": None, "v": "c"}]
NEW = [{"id": 2, "v": "x"}, {"id": 3, "v": "y"}, {"id": None, "v": "z"}]


def model(**config: Any) -> Any:
    """A model's node, as dbt has it."""
    given = {
        "full_refresh": None,
        "event_time": None,
        "incremental_strategy": None,
        "unique_key": None,
        "batch_size": None,
        "lookback": 1,
        **config,
    }
    node = SimpleNamespace(get=lambda name, default=None: given.get(name, default), **given)
    return SimpleNamespace(config=node)


def test_append_keeps_all_rows() -> None:
    """R2.5: append ignores a unique_key, and so does a merge without one."""
    for settings in (Settings("append", ("id",)), Settings("merge"), Settings("delete+insert")):
        assert written(settings, OLD, NEW) == [*OLD, *NEW]


def test_a_merge_updates_and_inserts() -> None:
    """R2.5: NULL equals nothing, so a row without a key is inserted once more."""
    found = written(Settings("merge", ("id",)), OLD, NEW)
    assert found == [OLD[0], NEW[0], OLD[2], NEW[1], NEW[2]]


def test_a_merge_of_some_columns_keeps_the_others() -> None:
    """R2.5: merge_update_columns and merge_exclude_columns."""
    old, new = [{"id": 1, "v": "a", "w": "b"}], [{"id": 1, "v": "x", "w": "y"}]
    only = settings_of(
        model(incremental_strategy="merge", unique_key="id", merge_update_columns=["v"]), "spark"
    )
    but = settings_of(
        model(incremental_strategy="merge", unique_key="id", merge_exclude_columns="v"), "spark"
    )
    assert written(only, old, new) == [{"id": 1, "v": "x", "w": "b"}]
    assert written(but, old, new) == [{"id": 1, "v": "a", "w": "y"}]


def test_a_merge_of_two_rows_of_one_key_fails() -> None:
    """R2.5: two new rows of a key that the table has; of a new key, both are inserted."""
    twice = [{"id": 1, "v": "x"}, {"id": 1, "v": "y"}]
    with pytest.raises(RunFailsError, match="two new rows have the key id = 1"):
        written(Settings("merge", ("id",)), OLD, twice)
    assert written(Settings("merge", ("id",)), [], twice) == twice


def test_delete_and_insert_replaces_all_rows_of_a_key() -> None:
    """R2.5: repeated rows of a key are deleted together."""
    twice = [{"id": 1, "v": "a"}, {"id": 1, "v": "b"}, {"id": 2, "v": "c"}]
    new = [{"id": 1, "v": "x"}]
    assert written(Settings("delete+insert", ("id",)), twice, new) == [twice[2], *new]


@pytest.mark.parametrize(
    ("part", "kept"), [("hour", [0, 1]), ("day", [0]), ("month", []), ("year", [])], ids=str
)
def test_partitions_are_replaced(part: str, kept: list[int]) -> None:
    """R2.5: those of the new rows, by the part of the time that the partition has."""
    times = [datetime(2025, 1, 2, 5), datetime(2025, 1, 3, 5), datetime(2025, 1, 3, 6)]
    old = [{"at": time} for time in times]
    new = [{"at": datetime(2025, 1, 3, 6, 30)}]
    found = written(Settings("insert_overwrite", partitions=(("at", part),)), old, new)
    assert found == [*(old[number] for number in kept), *new]


def test_named_partitions_are_replaced_even_by_nothing() -> None:
    """R2.5: `partitions` of BigQuery; without partition_by, the whole table is replaced."""
    old = [{"day": date(2025, 1, day)} for day in (1, 2, 3)]
    settings = Settings("insert_overwrite", partitions=(("day", ""),))
    assert written(settings, old, [], [date(2025, 1, 2)]) == [old[0], old[2]]
    assert written(Settings("insert_overwrite"), old, []) == []


def test_partitions_of_bigquery() -> None:
    """R2.5: one of NULL is never replaced, and one that is named may be an hour."""
    rows = [{"at": None}, {"at": datetime(2025, 1, 3, 5, 30)}]
    settings = settings_of(
        model(
            incremental_strategy="insert_overwrite",
            partition_by={"field": "at", "data_type": "timestamp", "granularity": "hour"},
        ),
        "bigquery",
    )
    assert written(settings, rows, rows) == [rows[0], *rows]
    assert written(settings, rows, [], [datetime(2025, 1, 3, 5)]) == [rows[0]]
    daily = Settings("insert_overwrite", partitions=(("at", "day"),))
    assert written(daily, rows, [], [date(2025, 1, 3)]) == [rows[0]]


@pytest.mark.parametrize(
    ("kind", "config", "words"),
    [
        ("spark", {"unique_key": "id"}, "append; unique_key has no effect"),
        ("snowflake", {"unique_key": ["id", "Day"]}, "merge on id, day"),
        ("postgres", {"unique_key": "id"}, "delete+insert on id"),
        ("postgres", {}, "append"),
        ("spark", {"incremental_strategy": "insert_overwrite"}, "insert_overwrite of the whole table"),
        (
            "bigquery",
            {
                "incremental_strategy": "insert_overwrite",
                "partition_by": {"field": "day", "data_type": "date"},
            },
            "insert_overwrite by day",
        ),
        (
            "spark",
            {
                "incremental_strategy": "microbatch",
                "event_time": "at",
                "batch_size": "day",
                "lookback": 3,
                "partition_by": "day",
            },
            "microbatch by at, day, lookback 3",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_strategy_is_that_of_the_adapter(kind: str, config: dict[str, Any], words: str) -> None:
    """R2.5: adapters have other defaults."""
    assert settings_of(model(**config), kind).words == words


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("exasol", {}, "the default of exasol is not known"),
        ("spark", {"incremental_strategy": "my_own"}, "my_own is none of append, merge"),
        ("spark", {"full_refresh": True}, "each run is a full refresh"),
        ("spark", {"incremental_strategy": "microbatch"}, "refuses microbatch on spark without partition_by"),
        (
            "postgres",
            {"incremental_strategy": "microbatch"},
            "refuses microbatch on postgres without unique_key",
        ),
        ("databricks", {"unique_key": "id", "matched_condition": "s.t > t.t"}, "it has matched_condition"),
        ("snowflake", {"incremental_predicates": ["a > 1"]}, "it has incremental_predicates"),
        ("snowflake", {"unique_key": "a || b"}, "its unique_key a || b is no list of columns"),
        (
            "bigquery",
            {
                "incremental_strategy": "insert_overwrite",
                "partition_by": {"field": "n", "range": {"start": 0}},
            },
            "partitioned by ranges",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_setting_that_is_not_computed_is_named(kind: str, config: dict[str, Any], why: str) -> None:
    """R2.5: the model is not tried, and the line says why."""
    with pytest.raises(UnsupportedSettingError) as error:
        settings_of(model(**config), kind)
    assert why in str(error.value)
