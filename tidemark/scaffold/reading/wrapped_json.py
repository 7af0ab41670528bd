"""JSON files that do not have one record per line: what to do with them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from shlex import quote
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.opening import without_ending
from tidemark.scaffold.reading.reading import Note
from tidemark.scaffold.reading.texts import HALF, FileText

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[{}\[\]]', re.DOTALL)
OBJECT = re.compile(r"\s*\{")


def no_records(text: FileText, whole_file: bool, notes: Sequence[Note]) -> TidemarkError:
    """Return why the beginning of a file has no records.

    Args:
        text: the beginning of the first file.
        whole_file: whether it is one array or object.
        notes: what was said about the files.
    """
    number = f"{len(text.text):,}"
    if whole_file and not text.is_whole and text.text.lstrip().startswith("{"):
        return TidemarkError(
            f"{text.name} is one object, which does not end in its first {number} characters.",
            _one_per_line(text.name, _list_of_objects(text.text)),
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
    lists = (
        name
        for name, value in records[0].items()
        if isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict)
    )
    field = next(lists, None)
    return [("json", f"{file} is one record. {_one_per_line(file, field)}")] if field else []


def command_of(file: str, records: str) -> str:
    """Return a command that writes the records of a file one per line into a folder of their own.

    Args:
        file: the file's name.
        records: what selects them, in the language of jq.

    Returns:
        The command in backticks; for a packed file, which jq cannot read, what to do first.
    """
    if "/" in file or without_ending(file) != file:
        return f"unpack it, then `jq -c {quote(records)}`"
    stem = PurePath(file).stem
    folder, lines = f"../{stem}-records", f"../{stem}-records/{stem}.jsonl"
    return f"`mkdir {quote(folder)} && jq -c {quote(records)} {quote(file)} > {quote(lines)}`"


def _one_per_line(file: str, field: str | None) -> str:
    where = f"its field {field} has the records" if field else "a field of it, say FIELD, has the records"
    command = command_of(file, f".{json.dumps(field, ensure_ascii=False)}[]" if field else ".FIELD[]")
    return f"If {where}, write them one per line into a folder of their own: {command}."


def _list_of_objects(text: str) -> str | None:
    """Return the first field of an object whose value is a list of objects."""
    depth, name = 0, ""
    for token in TOKEN.finditer(text):
        found = token[0]
        if found == "[" and depth == 1 and name and OBJECT.match(text, token.end()):
            return _text_of(name)
        if found in "{[":
            depth += 1
        elif found in "}]":
            depth -= 1
        elif depth == 1:
            name = found
    return None


def _text_of(name: str) -> str | None:
    """Return the text of a JSON string; None if it is none, or has half of a surrogate pair."""
    try:
        found = str(json.loads(name, strict=False))
    except ValueError:
        return None
    return None if HALF.search(found) else found
