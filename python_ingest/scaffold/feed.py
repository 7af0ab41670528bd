"""The proposal for a feed: the values for its templates."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from python_ingest.bronze.columns import sql_name
from python_ingest.errors import TidemarkError
from python_ingest.files.formats.rescue import text_in_sql
from python_ingest.scaffold.column import JINJA, Proposed, proposed_column
from python_ingest.scaffold.keys import chosen_key, key_of
from python_ingest.scaffold.reading.folder import pattern_of
from python_ingest.scaffold.sampling import Sample

NEWEST = ("updated_at", "modified_at", "changed_at", "last_updated", "last_modified", "version")
RAW = "data/raw"


@dataclass(frozen=True)
class Proposal:
    """A proposed feed with its silver model."""

    name: str
    location: str
    pattern: str
    sample: Sample
    columns: tuple[Proposed, ...]
    key: tuple[Proposed, ...]
    newest_by: Proposed | None

    @property
    def options(self) -> str:
        return json.dumps(self.sample.options)

    @property
    def key_names(self) -> list[str]:
        return [column.name for column in self.key]

    @property
    def unique_key(self) -> str:
        """The key as an argument of `config()`."""
        return repr(self.key_names) if len(self.key) > 1 else repr(self.key_names[0])

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Decisions that the user may not expect: pairs of an event and a message."""
        said = list(self.sample.notes)
        if renamed := [column.renamed for column in self.columns if column.name != column.field]:
            said.append(("renamed", ", ".join(renamed)))
        for words, fields in _grouped(self.sample.nulls):
            said.append(("null", f"{', '.join(words)} counts as NULL in {fields}"))
        for words, fields in _grouped(self.sample.kept_nulls):
            remedy = f"`options: {{null_value: {json.dumps(['', *words])}}}` of the feed makes it NULL"
            said.append(("text", f"{', '.join(words)} stays text in {fields}; {remedy}"))
        return said

    @property
    def shown(self) -> list[Proposed]:
        """The columns to show in a test, whose values are the same there as in the file."""
        simple = [column for column in self.columns if column.type in ("string", "bigint", "int")]
        keys = [column for column in self.key if column in simple]
        return [*keys, *[column for column in simple if column not in keys][:3]]

    @property
    def versions(self) -> list[dict[str, Any]]:
        """Two records with the same key, the newer one last."""
        whole = [
            row for row in self.sample.records if all(row.get(key.field) is not None for key in self.key)
        ]
        records = [_without_jinja(record) for record in whole]
        first = records[0]
        second = next((row for row in records if row != first), first)
        if self.newest_by and str(second.get(self.newest_by.field)) < str(first.get(self.newest_by.field)):
            first, second = second, first
        return [first, second | {column.field: first[column.field] for column in self.key}]

    def literal(self, column: Proposed, value: Any) -> str:
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

    def expected(self, column: Proposed) -> str:
        """Return a value of the newest version as YAML."""
        value = self.versions[1].get(column.field)
        value = value.strip() or None if isinstance(value, str) else value
        as_text = column.type == "string" and value is not None
        return json.dumps(str(value) if as_text else int(value) if value is not None else None)


def proposed(
    sample: Sample, files: Sequence[Path], path: Path, name: str | None, key: Sequence[str] = ()
) -> Proposal:
    """Propose a feed for sample files.

    Args:
        sample: the sample of the files.
        files: all files that were found.
        path: the folder of the files, or the only file.
        name: the feed's name; the default is the folder's name under `data/raw`, else the start of the file
            names.
        key: the columns that identify a record; by default they are found in the sample.

    Raises:
        TidemarkError: when it finds no valid name or key, or a field would be Jinja.
    """
    folder = path if path.is_dir() else path.parent
    stem = Counter(re.sub(r"\d.*$|\..*$", "", file.name) for file in files).most_common(1)[0][0]
    is_in_raw = folder.resolve().parent == (Path.cwd() / RAW).resolve()
    given = name or sql_name(folder.name if is_in_raw or not sql_name(stem) else stem)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", given):
        raise TidemarkError(
            f"{given!r} is not a valid name of a feed.",
            "Give `--name` in lower-case letters, digits and `_`.",
        )
    entity = given.removesuffix("s")
    columns = tuple(proposed_column(sample, field, entity) for field in sample.types)
    filled = {column.name: column for column in columns if column.is_required}
    newest = next((filled[wanted] for wanted in NEWEST if wanted in filled), None)
    fields = chosen_key(sample, key) if key else key_of(sample, entity, newest.field if newest else None)
    if fields is None:
        raise TidemarkError(
            f"No column of {files[0]}, and no combination of a few, is unique for each record.",
            "Name the columns that identify a record: `--key order_id,line_number`.",
        )
    by_field = {column.field: column for column in columns}
    pattern = pattern_of(files, "" if path.is_dir() or sql_name(folder.name) == given else stem)
    keys = tuple(by_field[field] for field in fields)
    return Proposal(given, _location(folder), pattern, sample, columns, keys, newest)


def _grouped(words: Mapping[str, tuple[str, ...]]) -> list[tuple[tuple[str, ...], str]]:
    """Return each group of words with the fields that have it."""
    return [(some, ", ".join(f for f in words if words[f] == some)) for some in dict.fromkeys(words.values())]


def _without_jinja(value: Any) -> Any:
    """Return a value without Jinja in its text, because dbt renders tests."""
    if isinstance(value, dict):
        return {_without_jinja(key): _without_jinja(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_jinja(inner) for inner in value]
    return JINJA.sub("{", value) if isinstance(value, str) else value


def _location(folder: Path) -> str:
    relative = os.path.relpath(folder.resolve(), Path.cwd())
    if relative.startswith(f"{RAW}/"):
        return f"{{{{ env_var('TIDEMARK_RAW', '{RAW}') }}}}/{relative.removeprefix(RAW + '/')}"
    return str(folder.resolve()) if relative.startswith("..") else relative
