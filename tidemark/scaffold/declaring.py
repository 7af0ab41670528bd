"""The YAML of a proposed feed, of its silver models and of its gold model."""

from __future__ import annotations

from typing import Any

from tidemark.scaffold.column import Proposed, plain_for_dbt
from tidemark.scaffold.feed import PLACE, Proposal
from tidemark.scaffold.gold import Gold
from tidemark.scaffold.unit_tests import silver_tests, staging_tests
from tidemark.scaffold.yaml_text import Flow, Inline, yaml_text

SCHEMA = "{{ 'bronze' if target.schema == 'default' else target.schema ~ '_bronze' }}"
METADATA = {
    "_rescued_data": "string",
    "_corrupt_record": "string",
    "_corrupt_reason": "string",
    "_source_file": "string",
    "_source_modified_at": "timestamp",
    "_row_number": "bigint",
    "_batch_id": "bigint",
    "_ingested_at": "timestamp",
}
REJECTED = {
    "rejection_reason": "string",
    "raw_record": "string",
    "_corrupt_record": "string",
    "_source_file": "string",
    "_batch_id": "bigint",
    "_row_number": "bigint",
    "_ingested_at": "timestamp",
}
TESTED = ("_source_file", "_batch_id", "rejection_reason")
NOT_NULL = {"constraints": Inline([Flow(type="not_null")])}


def sources_yml(feed: Proposal) -> str:
    """Return the declaration of a feed."""
    external: dict[str, Any] = {"location": feed.location, "file_format": feed.sample.file_format}
    external["pattern"] = plain_for_dbt(feed.pattern)
    if feed.sample.options:
        external["options"] = plain_for_dbt(Flow(feed.sample.options))
    if feed.sample.partitions:
        external["partitions"] = [Flow(name=field, data_type="string") for field in feed.sample.partitions]
    if feed.key:
        external["key"] = Inline(feed.key_names)
    else:
        external["on_change"] = "error"  # without a key, records cannot replace their earlier versions
    if feed.newest_by:
        external["newest_by"] = feed.newest_by.name
    table = {
        "name": feed.name,
        "description": f"One row per record of the {feed.name} files, plus where and when it came from.",
        "external": external,
        "columns": [*map(_landed, feed.columns), *_documented(METADATA)],
    }
    source = {
        "name": "bronze",
        "schema": SCHEMA,
        "description": "Raw rows exactly as they were sent, append-only.",
        "config": {
            "loaded_at_field": "_ingested_at",
            "freshness": {"warn_after": Flow(count=36, period="hour")},
        },
        "tables": [table],
    }
    return yaml_text({"version": 2, "sources": [source]})


def staging_yml(feed: Proposal) -> str:
    """Return the declaration of the staging model, with a unit test."""
    columns = [
        Flow(name=column.name, data_type=column.type, description=f"`{column.field}` of the files.")
        for column in feed.columns
    ]
    reason = "{{ doc('rejection_reason') }} NULL if it breaks none."
    model = {
        "name": f"stg_{feed.name}",
        "description": f"One row per landed record of {feed.name}, with its casts and the rule it breaks.",
        "columns": [*columns, Flow(name="rejection_reason", data_type="string", description=reason)],
    }
    return yaml_text({"version": 2, "models": [model], "unit_tests": staging_tests(feed)})


def models_yml(feed: Proposal) -> str:
    """Return the declarations of the silver model and of the model of rejected rows, with unit tests."""
    newest = f"has the highest `{feed.newest_by.name}`" if feed.newest_by else "landed last"
    key = ", ".join(f"`{name}`" for name in feed.key_names)
    of_key, of_record = f"{key}, the version that {newest}", "landed record that breaks no rule"
    model: dict[str, Any] = {
        "name": feed.name,
        "description": f"One row per {of_key if feed.key else of_record}.",
        "columns": [_stored(column, feed) for column in feed.columns],
    }
    if not feed.key:
        model["columns"] += _documented({name: METADATA[name] for name in PLACE}, not_null=PLACE)
    if len(feed.key) != 1:
        model["data_tests"] = [unique_key(feed.key_names or PLACE)]
    name = f"rejected_{feed.name}"
    rejected = {
        "name": name,
        "description": f"One row per landed record of {feed.name} that breaks a rule, with the reason.",
        "columns": list(_documented(REJECTED, not_null=PLACE)),
        "data_tests": [unique_key(PLACE)],
    }
    return yaml_text({"version": 2, "models": [model, rejected], "unit_tests": silver_tests(feed)})


def gold_yml(gold: Gold) -> str:
    """Return the declaration of the gold model."""
    columns = [
        {"name": name, "data_type": of, "description": description}
        | (NOT_NULL | {"data_tests": Inline(["unique", "not_null"])} if name == gold.by else {})
        for name, of, description in gold.columns
    ]
    model = {"name": gold.name, "description": gold.description, "columns": columns}
    return yaml_text({"version": 2, "models": [model]})


def unique_key(columns: Any) -> dict[str, Any]:
    """Return the test that columns identify a row."""
    return Flow(unique_key=Flow(arguments=Flow(columns=Inline(columns))))


def _landed(column: Proposed) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": column.name,
        "data_type": column.bronze_type,
        "description": f"`{column.field}` of the files.",
    }
    if column.field != column.name:
        found["config"] = Flow(meta=Flow(field=column.field))
    return found


def _stored(column: Proposed, feed: Proposal) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": column.name,
        "data_type": column.type,
        "description": f"`{column.field}` of the files.",
    }
    if column in feed.key:
        found |= NOT_NULL | {"data_tests": Inline([*(["unique"] if len(feed.key) == 1 else []), "not_null"])}
    elif column.is_required:
        found |= NOT_NULL
    return found


def _documented(columns: dict[str, str], not_null: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, of in columns.items():
        column = Flow(name=name, data_type=of, description=f"{{{{ doc('{name}') }}}}")
        if name in not_null:
            column |= NOT_NULL
        elif name in TESTED:
            column["data_tests"] = Inline(["not_null"])
        found.append(column)
    return found
