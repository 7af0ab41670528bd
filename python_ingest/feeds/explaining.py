"""Explain what is wrong with the declaration of a feed, and how to correct it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from python_ingest.feeds.external_kinds import CONNECTORS, external_keys
from python_ingest.feeds.file_formats import FILE_FORMATS
from python_ingest.feeds.strict import NO_NUMBER
from tidemark.base.errors import DeclarationError

PII = "personal columns"
KEY = "columns of the key"
OF_NUMBERS = ("int_parsing", "int_type", "int_from_float", "float_parsing", "float_type")  # words of pydantic
NO_TEXT = "its files hold text, so bronze keeps text"

FIXES = {
    "location": "Add `location:` with the folder that holds the feed's files.",
    "file_format": f"Set `file_format` to one of: {', '.join(FILE_FORMATS)}; "
    f"or `connector` to one of: {', '.join(CONNECTORS)}.",
    "connector": f"Set `connector` to one of: {', '.join(CONNECTORS)}; or `file_format` for files.",
    "pattern": "Give a pattern of file names, such as 'orders_*.csv', or of paths, such as 'dt=*/*.csv'.",
    "max_bytes": "Write it as 64 MB, 1 GiB or a number of bytes.",
    "exclude": "Give one or several patterns of files that do not land: `exclude: ['*.tmp', 'old/**/*']`.",
    "partitions": "Name each folder's column once: `partitions: [{name: year, data_type: string}]`.",
    "pii": "Name declared columns, of type string for `hash_pii`: `pii: [email, phone]`.",
    "key": "Name declared columns of simple types: `key: [state, country]`, `newest_by: updated_at`.",
    "columns": "Declare each column of the file as `- {name: …, data_type: …}`.",
    "name": "Use lower-case letters, digits and `_`, beginning with a letter; "
    "`config: {meta: {field: …}}` of a column gives its name in the file.",
    "data_type": "Set `data_type: string` for CSV and Excel; "
    "else a Spark SQL type, such as bigint or array<string>.",
}


def explained(node: Mapping[str, Any], error: ValidationError) -> DeclarationError:
    """Return the first error of a feed's declaration, with its place and what to do.

    Args:
        node: the source node of dbt's manifest.
        error: what pydantic found.
    """
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    if error.title.endswith("External"):
        path = ["external", *path]
    elif error.title == "Column" or NO_TEXT in first["msg"]:
        path = ["columns", *(path or ["data_type"])]
    elif PII in first["msg"]:
        path = ["external", "pii"]
    elif KEY in first["msg"]:
        path = ["external", "key"]
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] != "missing" and first["loc"]:
        problem += f" (it is {first['input']!r})"
    fix = next((FIXES[part] for part in reversed(path) if part in FIXES), FIXES["columns"])
    if NO_TEXT in problem:
        fix = "Set `data_type: string` here and cast the column in its silver model."
    elif path[-1] not in FIXES and (NO_NUMBER in problem or first["type"] in OF_NUMBERS):
        fix = f"Set `{path[-1]}` to a number; see docs/{_page(node)}."
    elif path[0] == "external" and path[-1] not in FIXES:
        part = next((part for part in ("options", "contract") if part in path), None)
        known = external_keys(node["external"], part)
        fix = f"Allowed {'keys' if part != 'options' else part}: {', '.join(known)}; see docs/{_page(node)}."
    return DeclarationError(node["original_file_path"], node["name"], ".".join(path) or "feed", problem, fix)


def _page(node: Mapping[str, Any]) -> str:
    return "sources.md" if "connector" in node["external"] else "landing.md"
