"""Feeds, read from dbt's parsed manifest and validated.

A feed is a dbt source table with an `external:` block; there is no second list of feeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from python_ingest.errors import DeclarationError, LandingError

METADATA_PREFIX = "_"
IDENTIFIER = r"^[a-z][a-z0-9_]*$"

FIXES = {
    "location": "Add `location:` with the folder that holds the feed's files.",
    "file_format": "Set `file_format: csv`.",
    "pattern": "Give a file name pattern, for example `pattern: 'orders_*.csv'`.",
    "options": "Allowed options: delimiter, quote, escape, null_value.",
    "columns": "Declare each column of the file as `- {name: …, data_type: string}`.",
    "name": "Use lower-case letters, digits and `_`, beginning with a letter.",
}


class CsvOptions(BaseModel):
    """How a CSV file is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    delimiter: str = Field(default=",", min_length=1, max_length=1)
    quote: str = Field(default='"', min_length=1, max_length=1)
    escape: str = Field(default='"', min_length=1, max_length=1)
    null_value: str = ""


class Column(BaseModel):
    """A column of the file. CSV holds text, so bronze keeps text; silver casts it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(pattern=IDENTIFIER)
    data_type: Literal["string"]
    description: str = ""


class External(BaseModel):
    """The `external:` block of a source table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    location: str = Field(min_length=1)
    file_format: Literal["csv"]
    pattern: str = Field(default="*", min_length=1)
    options: CsvOptions = CsvOptions()


class Feed(BaseModel):
    """One declared feed: where its files are, and which bronze table they land in.

    `table` is `schema.name`; `columns` are the file's columns in the order of the declaration.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=IDENTIFIER)
    schema_name: str = Field(pattern=IDENTIFIER)
    identifier: str = Field(pattern=IDENTIFIER)
    description: str = ""
    declared_in: str
    external: External
    columns: tuple[Column, ...] = Field(min_length=1)

    @field_validator("columns")
    @classmethod
    def _names_differ(cls, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        names = [column.name for column in columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"declared twice: {', '.join(twice)}")
        return columns

    @property
    def table(self) -> str:
        return f"{self.schema_name}.{self.identifier}"

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]


def feeds_of(sources: Iterable[Mapping[str, Any]]) -> dict[str, Feed]:
    """Validate the feeds among a manifest's sources.

    Args:
        sources: source nodes of dbt's manifest, as dictionaries.

    Returns:
        The feeds by name, in the order of their names.

    Raises:
        DeclarationError: for the first feed that is declared wrongly.
    """
    feeds: dict[str, Feed] = {}
    for node in sorted((node for node in sources if node.get("external")), key=lambda node: node["name"]):
        if node["name"] in feeds:
            raise DeclarationError(
                node["original_file_path"],
                node["name"],
                "name",
                f"there is another feed of this name, in {feeds[node['name']].declared_in}",
                "Give each feed a name of its own.",
            )
        feeds[node["name"]] = _feed(node)
    return feeds


def choose(feeds: Mapping[str, Feed], names: Iterable[str]) -> list[Feed]:
    """Return the named feeds, or all of them when no name is given.

    Raises:
        LandingError: when a name is not a declared feed.
    """
    wanted = list(dict.fromkeys(names)) or list(feeds)
    for name in wanted:
        if name not in feeds:
            known = ", ".join(feeds) or "none"
            raise LandingError(
                f"There is no feed named '{name}' (declared: {known}).",
                "Give a declared feed, or declare it in models/bronze/_bronze__sources.yml.",
            )
    return [feeds[name] for name in wanted]


def _feed(node: Mapping[str, Any]) -> Feed:
    external = {key: value for key, value in node["external"].items() if value not in (None, [], {})}
    columns = [column for name, column in node["columns"].items() if not name.startswith(METADATA_PREFIX)]
    try:
        return Feed(
            name=node["name"],
            schema_name=node["schema"],
            identifier=node.get("identifier") or node["name"],
            description=node.get("description", ""),
            declared_in=node["original_file_path"],
            external=External.model_validate(external),
            columns=tuple(Column.model_validate(column) for column in columns),
        )
    except ValidationError as error:
        raise _explained(node, error) from error


def _explained(node: Mapping[str, Any], error: ValidationError) -> DeclarationError:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    prefix = {"External": ["external"], "Column": ["columns"]}.get(error.title, [])
    key = ".".join(prefix + path) or "feed"
    problem = first["msg"]
    if first["type"] != "missing":
        problem += f" (it is {first['input']!r})"
    topic = next((part for part in reversed(prefix + path) if part in FIXES), "columns")
    if path[-1:] == ["data_type"]:
        problem = f"CSV holds text, so bronze keeps text (it is {first['input']!r})"
        fix = "Set `data_type: string` here and cast the column in its silver model."
    else:
        fix = FIXES["options" if "options" in path else topic]
    return DeclarationError(node["original_file_path"], node["name"], key, problem, fix)
