"""How a model's table is written, from its config and its code."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.engine.decision.ways import CodeFacts, stock_settings, way_of

pytestmark = pytest.mark.R2
PLAIN = CodeFacts()
ASKS = CodeFacts(asks_incremental=True)
MACROS = CodeFacts(reads_by_macros=True)
PACKAGE = CodeFacts(package="elementary")


@pytest.mark.parametrize(
    ("config", "facts", "name", "why_unproven"),
    [
        ({"unique_key": "id"}, PLAIN, "derived", ""),
        ({}, PLAIN, "derived", ""),
        ({"unique_key": "id", "incremental_strategy": "insert_overwrite"}, PLAIN, "derived", ""),
        ({"unique_key": "id"}, MACROS, "merge", ""),
        ({"unique_key": "id"}, CodeFacts(asks_incremental=True, reads_by_macros=True), "merge", ""),
        ({"unique_key": "id"}, ASKS, "merge", "its SQL calls is_incremental()"),
        ({}, ASKS, "stock", "its SQL calls is_incremental(), and it has no unique_key"),
        ({"incremental_strategy": "append"}, PLAIN, "stock", "incremental_strategy append adds"),
        ({"unique_key": "id", "merge_update_columns": ["n"]}, ASKS, "stock", "merge_update_columns updates"),
        ({"unique_key": "id", "merge_exclude_columns": ["n"]}, PLAIN, "stock", "merge_exclude_columns"),
        ({"unique_key": "id", "incremental_predicates": ["true"]}, PLAIN, "stock", "incremental_predicates"),
        ({"unique_key": "id"}, PACKAGE, "stock", "the package elementary maintains it"),
        ({"meta": {"maintained_by": "tidemark"}}, PACKAGE, "derived", ""),
        ({"meta": {"maintained_by": "dbt"}}, PLAIN, "stock", "meta.maintained_by is dbt"),
        ({"unique_key": "id"}, CodeFacts(package="ours", reads_by_macros=True), "merge", ""),
        ({"materialized": "table"}, PLAIN, "", ""),
    ],
)
def test_a_model_has_one_way(config: dict[str, Any], facts: CodeFacts, name: str, why_unproven: str) -> None:
    """R2.2: what depends on its own runs is not proven."""
    way = way_of({"materialized": "incremental", **config}, facts)
    assert (way.name, way.refused) == (name, "")
    assert way.why_unproven.startswith(why_unproven)
    assert bool(way.why_unproven) == bool(why_unproven)


@pytest.mark.parametrize(
    ("config", "facts", "refused"),
    [
        ({}, MACROS, "unique_key is not set"),
        ({"unique_key": "id", "incremental_strategy": "append"}, MACROS, "incremental_strategy append"),
        ({"unique_key": "id", "merge_update_columns": ["n"]}, MACROS, "merge_update_columns"),
        ({"unique_key": "id", "meta": {"maintained_by": "dbt"}}, MACROS, "meta.maintained_by is dbt, but"),
        ({"meta": {"maintained_by": "me"}}, PLAIN, "meta.maintained_by is me. Set it to tidemark or dbt."),
        ({"meta": {"accumulates": "yes"}}, PLAIN, "meta.accumulates is yes. Set it to true or false."),
        ({"meta": {"maintain": "yes"}}, PLAIN, "meta.maintain is yes. Set it to auto or always or never."),
        (
            {"meta": {"maintain": "always"}, "unique_key": "id"},
            MACROS,
            "meta.maintain chooses how a plain query",
        ),
    ],
)
def test_unsupported_options_are_refused(config: dict[str, Any], facts: CodeFacts, refused: str) -> None:
    """R2.2: by the name of the setting."""
    assert way_of({"materialized": "incremental", **config}, facts).refused.startswith(refused)


@pytest.mark.parametrize(
    ("config", "accumulates"),
    [
        ({}, False),
        ({"full_refresh": False}, True),
        ({"full_refresh": True}, False),
        ({"meta": {"accumulates": True}}, True),
    ],
)
def test_rows_stay_where_the_model_says_so(config: dict[str, Any], accumulates: bool) -> None:
    """R2.2: `full_refresh: false` says it, too."""
    given = {"materialized": "incremental", "unique_key": "id", **config}
    assert way_of(given, PLAIN).accumulates is way_of(given, MACROS).accumulates is accumulates


def test_dbt_spark_gets_the_format_of_the_lake() -> None:
    """R2.2: it merges what has a key, and appends the rest."""
    assert stock_settings({}, "delta") == {"file_format": "delta", "incremental_strategy": "append"}
    assert stock_settings({"unique_key": "id"}, "iceberg")["incremental_strategy"] == "merge"
    assert stock_settings({"file_format": "delta", "incremental_strategy": "append"}, "delta") == {}
