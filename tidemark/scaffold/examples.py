"""Records of the sample as rows of unit tests."""

from __future__ import annotations

import json
import re
from typing import Any

from python_ingest.files.formats.rescue import text_in_sql
from tidemark.scaffold.column import Proposed
from tidemark.scaffold.feed import Proposal

ODD = re.compile(
    r"[^\w .,:;/@+()'\"$€£¥%*=-]|[\ud800-\udfff]"
)  # `{` would begin Jinja, a control character no YAML
LONGEST = 200


def versions(feed: Proposal) -> list[dict[str, Any]]:
    """Return two records with the same key, the newer one last."""
    whole = [row for row in feed.sample.records if all(row.get(key.field) is not None for key in feed.key)]
    first = whole[0]
    second = next((row for row in whole if row != first), first)
    newest = feed.newest_by
    if newest and _order(newest, second) < _order(newest, first):
        first, second = second, first
    pair = [first, second | {column.field: first[column.field] for column in feed.key}]
    return [{column.field: _plain(row.get(column.field), column) for column in feed.columns} for row in pair]


def shown(feed: Proposal) -> list[Proposed]:
    """Return the columns to show in a test, whose values are the same there as in the file."""
    simple = [column for column in feed.columns if column.type in ("string", "bigint", "int")]
    simple = [column for column in simple if column.bronze_type in ("string", "bigint", "int")]
    keys = [column for column in feed.key if column in simple]
    return [*keys, *[column for column in simple if column not in keys][:3]]


def literal(column: Proposed, value: Any) -> str:
    """Return a value of the sample as SQL, in the column's type in bronze."""
    if value is None:
        return f"cast(null as {column.bronze_type})"
    if isinstance(value, (dict, list)):
        text = text_in_sql(json.dumps(value, default=str))
        if column.bronze_type == "string":
            return text
        return f"from_json({text}, {text_in_sql(column.bronze_type)})"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    quoted = text_in_sql(text)
    return quoted if column.bronze_type == "string" else f"cast({quoted} as {column.bronze_type})"


def in_silver(column: Proposed, value: Any) -> Any:
    """Return a value of a shown column, as silver has it."""
    if isinstance(value, (dict, list)):
        value = json.dumps(value, default=str)
    value = value.strip() or None if isinstance(value, str) else value
    if value is None:
        return None
    return str(value) if column.type == "string" else int(value)


def staged_literal(column: Proposed, value: Any) -> str:
    """Return a value of a shown column as SQL, in the column's type in silver."""
    staged = in_silver(column, value)
    if staged is None:
        return f"cast(null as {column.type})"
    return text_in_sql(staged) if column.type == "string" else f"cast({staged} as {column.type})"


def _order(column: Proposed, row: dict[str, Any]) -> Any:
    value = row[column.field]
    return column.value.read(value.strip()) if column.is_cast else value


def _plain(value: Any, column: Proposed) -> Any:
    """Return a value as a test can have it: text without odd characters, and not too long."""
    if isinstance(value, dict):
        return {key: _plain(inner, column) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, column) for inner in value[:3]]
    if isinstance(value, str) and not column.is_cast:
        return ODD.sub(" ", value)[:LONGEST].strip() or ("x" if value.strip() else value)
    return value
