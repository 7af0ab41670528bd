"""Rules of dbt-bouncer.yml on columns that the tool has for models only, or not at all."""

from collections.abc import Container
from typing import Any

from dbt_bouncer.check_framework.decorator import check, fail


@check
def check_source_columns_are_described(source: Any) -> None:
    """Each declared column of a source has a description and a data type."""
    _described(source)


@check
def check_seed_columns_are_described(seed: Any) -> None:
    """Each column of a seed has a description, and a type in `column_types`."""
    _described(seed, typed=seed.config.column_types or {})


@check
def check_snapshot_columns_are_described(snapshot: Any) -> None:
    """A snapshot declares columns, each with a description and a data type."""
    if not snapshot.columns:
        fail(f"`{snapshot.name}` declares no columns.")
    _described(snapshot)


@check
def check_model_key_is_tested(model: Any, ctx: Any) -> None:
    """The unique key, the columns of a uniqueness test and the not-null columns of the key are the same."""
    key = model.config.unique_key or []
    key = sorted([key] if isinstance(key, str) else key)
    tested = [sorted(_tested_columns(test)) for test in ctx.tests_by_attached_node.get(model.unique_id, [])]
    if key not in tested:
        fail(f"`{model.name}` has no uniqueness test of its unique_key {key}.")
    nullable = [name for name in key if "not_null" not in _constraints(model.columns[name])]
    if nullable:
        fail(f"`{model.name}` lets columns of its unique_key be NULL: {nullable}.")


def _described(node: Any, typed: Container[str] = ()) -> None:
    lacking = [
        name
        for name, column in node.columns.items()
        if not (column.description or "").strip() or not (column.data_type or name in typed)
    ]
    if lacking:
        fail(f"`{node.name}` has columns without a description or a type: {lacking}.")


def _tested_columns(test: Any) -> list[str]:
    if test.test_metadata.name == "unique":
        return [test.column_name]
    return list(test.test_metadata.kwargs["columns"]) if test.test_metadata.name == "unique_key" else []


def _constraints(column: Any) -> list[str]:
    return [str(constraint.type) for constraint in column.constraints or []]
