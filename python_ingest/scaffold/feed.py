"""The proposal for a feed: what its templates are filled with."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from python_ingest.columns import sql_name
from python_ingest.errors import TidemarkError
from python_ingest.formats.rescue import text_in_sql
from python_ingest.scaffold.sampling import Sample, key_of

NEWEST = ("updated_at", "modified_at", "changed_at", "last_updated", "last_modified", "version")
RAW = "data/raw"
JINJA = re.compile(r"\{[{%#]+")
WORDS = {
    "bigint": "a whole number",
    "decimal": "a number",
    "date": "a date (yyyy-MM-dd)",
    "timestamp": "a time (yyyy-MM-ddTHH:mm:ss)",
    "boolean": "true or false",
}


@dataclass(frozen=True)
class Proposed:
    """A column as it is proposed.

    Attributes:
        name: in bronze and silver.
        field: its name in the file.
        bronze_type: in bronze.
        type: in silver.
        is_required: True when no record of the sample lacks it.
    """

    name: str
    field: str
    bronze_type: str
    type: str
    is_required: bool

    @property
    def is_cast(self) -> bool:
        """True when silver's type is another than bronze's."""
        return self.type != self.bronze_type

    @property
    def sql(self) -> str:
        """The value in silver."""
        if self.type.startswith("map<"):
            return f"to_json({self.name})"
        if self.type == "string":
            return f"nullif(trim({self.name}), '')"
        if not self.is_cast:
            return self.name
        if self.type == "date":
            return f"cast(try_to_timestamp({self.name}, 'yyyy-MM-dd') as date)"
        if self.type.startswith("decimal"):
            scale = int(self.type.rstrip(")").partition(",")[2])
            pattern = f"^-?[0-9]{{1,{18 - scale}}}([.][0-9]{{1,{scale}}})?$"
            return f"if({self.name} rlike '{pattern}', try_cast({self.name} as {self.type}), null)"
        return f"try_cast({self.name} as {self.type})"

    @property
    def silver_type(self) -> str:
        return "string" if self.type.startswith("map<") else self.type

    @property
    def words(self) -> str:
        return WORDS[self.type.partition("(")[0]]


@dataclass(frozen=True)
class Proposal:
    """A feed with its silver model, as it is proposed."""

    name: str
    location: str
    pattern: str
    sample: Sample
    columns: tuple[Proposed, ...]
    key: Proposed
    newest_by: Proposed | None

    @property
    def options(self) -> str:
        return json.dumps(self.sample.options)

    @property
    def shown(self) -> list[Proposed]:
        """Columns whose values are the same in a test's expectation as in a file."""
        simple = [column for column in self.columns if column.type in ("string", "bigint", "int")]
        return [self.key, *[column for column in simple if column != self.key][:3]]

    @property
    def versions(self) -> list[dict[str, Any]]:
        """Two records with one key, the newer one last."""
        records = [_without_jinja(record) for record in self.sample.records]
        first = records[0]
        second = next((row for row in records if row != first), first)
        if self.newest_by and str(second.get(self.newest_by.field)) < str(first.get(self.newest_by.field)):
            first, second = second, first
        return [first, second | {self.key.field: first[self.key.field]}]

    def literal(self, column: Proposed, value: Any) -> str:
        """Return a value of the sample as SQL of its type in bronze."""
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


def proposed(sample: Sample, files: Sequence[Path], folder: Path, name: str | None) -> Proposal:
    """Propose a feed for sample files.

    Args:
        sample: what the files hold.
        files: all files that were found.
        folder: where they are.
        name: the feed's name; by default that of the folder, or of the files in `data/raw`.

    Raises:
        TidemarkError: when no name, or no key, can be proposed.
    """
    stems = Counter(re.sub(r"\d.*$|\..*$", "", file.name) for file in files)
    stem = stems.most_common(1)[0][0]
    is_in_raw = folder.resolve().parent == (Path.cwd() / RAW).resolve()
    given = name or sql_name(folder.name if is_in_raw or not sql_name(stem) else stem)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", given):
        raise TidemarkError(
            f"{given!r} cannot name a feed.", "Give `--name` in lower-case letters, digits and `_`."
        )
    entity = given.removesuffix("s")
    columns = tuple(_column(sample, field, entity) for field in sample.types)
    twice = [name for name, count in Counter(column.name for column in columns).items() if count > 1]
    if twice:
        raise TidemarkError(
            f"Several columns would be called {', '.join(twice)}.",
            "Declare the feed by hand: docs/landing.md.",
        )
    key_field = key_of(sample, entity)
    key = next((column for column in columns if column.field == key_field), None)
    if key is None:
        raise TidemarkError(
            f"No column of {files[0]} is filled in every record and could be a key.",
            "Declare the feed by hand: README.md, «Your own data», and docs/landing.md.",
        )
    filled = {column.name: column for column in columns if column.is_required}
    newest = next((filled[wanted] for wanted in NEWEST if wanted in filled), None)
    suffix = "".join(files[0].suffixes[-2:] if files[0].suffix in (".gz", ".bz2") else files[0].suffixes[-1:])
    pattern = f"{stem if len(stems) == 1 else ''}*{suffix}"
    return Proposal(given, _location(folder), pattern, sample, columns, key, newest)


def _without_jinja(value: Any) -> Any:
    """Return a value with its text such that dbt, which renders tests, leaves it alone."""
    if isinstance(value, dict):
        return {_without_jinja(key): _without_jinja(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_jinja(inner) for inner in value]
    return JINJA.sub("{", value) if isinstance(value, str) else value


def _column(sample: Sample, field: str, entity: str) -> Proposed:
    name, of = sql_name(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field)), sample.types[field]
    if JINJA.search(field):
        raise TidemarkError(
            f"A column is called {field!r}, which dbt would take for Jinja.",
            "Declare the feed by hand, under another name: docs/landing.md.",
        )
    required = all(row.get(field) is not None for row in sample.records)
    name = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        name = f"column_{list(sample.types).index(field) + 1}"
    name = f"{entity}_{name}" if name.upper() in _keywords() else name
    return Proposed(name, field, "string" if sample.file_format == "csv" else of, of, required)


def _location(folder: Path) -> str:
    relative = os.path.relpath(folder.resolve(), Path.cwd())
    if relative.startswith(f"{RAW}/"):
        return f"{{{{ env_var('TIDEMARK_RAW', '{RAW}') }}}}/{relative.removeprefix(RAW + '/')}"
    return str(folder.resolve()) if relative.startswith("..") else relative


@cache
def _keywords() -> set[str]:
    """Return the words that sqlfluff does not take as names, where it is installed."""
    try:
        from sqlfluff.core.dialects import dialect_selector
    except ImportError:
        return {"DATE", "ORDER", "TIMESTAMP", "USER", "VALUES", "TYPE", "COMMENT"}
    dialect = dialect_selector("sparksql")
    return set(dialect.sets("unreserved_keywords")) | set(dialect.sets("reserved_keywords"))
