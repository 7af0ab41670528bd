"""JSON files in which the records are a list in a field of one object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.reading import Note
from tidemark.scaffold.reading.texts import FileText

LIST_OF_OBJECTS = re.compile(r'"(\w+)"\s*:\s*\[\s*\{')
COMMAND = """jq -c '."{field}"[]' {name} > {lines}"""
IN_FIELD = "If its records are in its field {field}, write them one per line"


def no_records(text: FileText, whole_file: bool, notes: Sequence[Note]) -> TidemarkError:
    """Return why the beginning of a file has no records.

    Args:
        text: the beginning of the first file.
        whole_file: whether it is one array or object.
        notes: what was said about the files.
    """
    number = f"{len(text.text):,}"
    if whole_file and not text.is_whole and text.text.lstrip().startswith("{"):
        field = LIST_OF_OBJECTS.search(text.text)
        name = field[1] if field else "records"
        return TidemarkError(
            f"{text.name} is one object, which does not end in its first {number} characters.",
            f"{IN_FIELD.format(field=name)}: `{_unwrapped(text.name, name)}`.",
        )
    incomplete = next((message for event, message in notes if event == "left out"), "")
    return TidemarkError(
        f"{text.name}: no JSON objects in its first {number} characters.",
        incomplete or "Use files with one object per line, or with an array of objects.",
    )


def wrapped(records: Sequence[dict[str, Any]], file: str) -> list[Note]:
    """Return a note if the only record has the records in one of its fields."""
    if len(records) != 1:
        return []
    lists = [
        name
        for name, value in records[0].items()
        if isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict)
    ]
    if not lists:
        return []
    fields = IN_FIELD.format(field=" or ".join(lists))
    return [("json", f"{file} is one record. {fields}: `{_unwrapped(file, lists[0])}`")]


def _unwrapped(file: str, field: str) -> str:
    lines = f"{file.rpartition('.')[0]}.jsonl"
    return COMMAND.format(field=field, name=quote(file), lines=quote(lines))
