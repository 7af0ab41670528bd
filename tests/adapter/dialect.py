"""PostgreSQL's dialect to Spark's, for the SQL and the property files of dbt's test classes."""

from __future__ import annotations

import re
from typing import Any

FILES = (".sql", ".yml", ".yaml")
Rules = tuple[tuple[str, str], ...]

TYPES: Rules = (
    (r"\btimestamp without time zone\b", "timestamp"),
    (r"\bvarchar\(\d+\)", "string"),
    (r"::text\b", "::string"),
    (r"(\btype: *|\bdata_type: *)text\b", r"\1string"),
    (r"(\btype: *|\bdata_type: *)integer\b", r"\1int"),
    (r"\{\{ *target\.database *\}\}\.", ""),  # Spark has schemas only
)
DDL: Rules = (*TYPES, (r"(\w +)text\b", r"\1string"))
STATEMENTS: Rules = (
    *DDL,
    (r"`None`\.|\bNone\.", ""),
    (r'"(\w+)"', r"`\1`"),
    (r" default (null|'\w*')", ""),  # Delta adds no column with a default
    # a test of snapshots expects rows in the order in which they were written
    (
        r"(select id, test_scd_id, test_valid_to from) (\S+)",
        r"\1 (select *, row_number() over (partition by id order by test_valid_from) as version from \2) "
        "order by version, id",
    ),
)


def files_for_spark(files: dict[str, Any]) -> dict[str, Any]:
    """Return the files of a folder of a project, by name, with Spark's types; folders are dicts."""
    translated = {}
    for name, content in files.items():
        if isinstance(content, dict):
            translated[name] = files_for_spark(content)
        elif isinstance(content, str) and name.endswith(FILES):
            translated[name] = _replaced(content, TYPES)
        else:
            translated[name] = content
    return translated


def project_for_spark(text: str) -> str:
    """Return the text of a dbt_project.yml, whose hooks may create tables."""
    return _replaced(text, DDL)


def statements_for_spark(sql: str) -> list[str]:
    """Return the statements that a test runs by itself: Spark takes one at a time."""
    return [one for one in re.split(r";\s*(?:\n|$)", _replaced(sql, STATEMENTS)) if one.strip()]


def _replaced(text: str, rules: Rules) -> str:
    for pattern, by in rules:
        text = re.sub(pattern, by, text, flags=re.IGNORECASE)
    return text
