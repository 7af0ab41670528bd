"""Read feeds from dbt's parsed manifest and validate them.

A feed is a dbt source table with an `external:` block; there is no second list of feeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from python_ingest.feeds.coverage import Claim, claims
from python_ingest.feeds.explaining import KEY, NO_TEXT, PII, explained
from python_ingest.feeds.external_files import AnyFiles
from python_ingest.feeds.external_kinds import AnyExternal, external_of
from python_ingest.feeds.external_table import TableExternal
from python_ingest.feeds.external_topic import TopicExternal
from python_ingest.feeds.file_formats import FILE_FORMATS
from tidemark.base.errors import DeclarationError, LandingError, did_you_mean

METADATA_PREFIX = "_"
IDENTIFIER = r"^[a-z][a-z0-9_]*$"

DATA_TYPE = r"^[a-z](?:[a-zA-Z0-9_<>,:() ]|`[^`]+`)*$"


class Column(BaseModel):
    """A column of the file.

    Attributes:
        name: its name in bronze.
        data_type: its type in bronze; string for CSV, which holds text that silver casts.
        field: its name in the file, if that differs: `config: {meta: {field: …}}`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(pattern=IDENTIFIER)
    data_type: str = Field(pattern=DATA_TYPE)
    field: str | None = None
    description: str = ""

    @property
    def in_file(self) -> str:
        return self.field or self.name


class Feed(BaseModel):
    """One declared feed: where its rows come from, and which bronze table they land in.

    `table` is `schema.name`; `columns` are the source's columns in the order of the declaration.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=IDENTIFIER)
    schema_name: str = Field(pattern=IDENTIFIER)
    identifier: str = Field(pattern=IDENTIFIER)
    description: str = ""
    declared_in: str
    external: AnyExternal
    columns: tuple[Column, ...] = Field(min_length=1)

    @field_validator("columns")
    @classmethod
    def _names_differ(cls, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        names = [column.name for column in columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"declared twice: {', '.join(twice)}")
        return columns

    @model_validator(mode="after")
    def _pii_are_columns(self) -> Feed:
        unknown = [name for name in self.external.pii if name not in self.column_names]
        if unknown:
            raise ValueError(f"{PII}: '{unknown[0]}' is not a declared column")
        return self

    @property
    def table(self) -> str:
        return f"{self.schema_name}.{self.identifier}"

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def partition_names(self) -> tuple[str, ...]:
        """The columns of bronze whose values are in the names of folders; they are not in `columns`."""
        return ()


class FileFeed(Feed):
    """A feed of files in a folder; `claims` are the files below its location that belong to other feeds."""

    external: AnyFiles
    claims: tuple[Claim, ...] = ()

    @property
    def partition_names(self) -> tuple[str, ...]:
        return tuple(partition.name for partition in self.external.partitions)

    @model_validator(mode="after")
    def _csv_holds_text(self) -> FileFeed:
        other = next((c.data_type for c in self.columns if c.data_type != "string"), None)
        if FILE_FORMATS[self.external.file_format].holds_text and other:
            raise ValueError(f"{NO_TEXT} (it is {other!r})")
        return self

    @model_validator(mode="after")
    def _key_is_of_columns(self) -> FileFeed:
        types = {column.name: column.data_type for column in self.columns}
        newest_by = self.external.newest_by
        for name in (*self.external.key, *([newest_by] if newest_by else [])):
            if name not in types:
                raise ValueError(f"{KEY}: '{name}' is not a declared column")
            if re.match("(?i)(struct|array|map|variant)", types[name]):
                raise ValueError(f"{KEY}: '{name}' has type {types[name]}, which is not simple")
        return self

    @model_validator(mode="after")
    def _hashes_are_text(self) -> FileFeed:
        if not self.external.hash_pii:
            return self
        if not self.external.pii:
            raise ValueError(f"{PII}: `hash_pii` without columns")
        for column in self.columns:
            if column.name in self.external.pii and column.data_type != "string":
                raise ValueError(f"{PII}: '{column.name}' has type {column.data_type}, but a hash is text")
        return self


class TableFeed(Feed):
    """A feed from a table of a database."""

    external: TableExternal


class TopicFeed(Feed):
    """A feed from a topic."""

    external: TopicExternal


KINDS: dict[Any, type[Feed]] = {"postgresql": TableFeed, "kafka": TopicFeed}


def feeds_of(sources: Iterable[Mapping[str, Any]]) -> dict[str, Feed]:
    """Validate the feeds among a manifest's sources.

    Args:
        sources: source nodes of dbt's manifest, as dictionaries.

    Returns:
        The feeds by name, in the order of their names.

    Raises:
        DeclarationError: for the first feed with an invalid declaration.
    """
    feeds, invalid = declared_feeds(sources)
    for error in invalid.values():
        raise error
    return feeds


def _with_claims(feed: Feed, feeds: Iterable[Feed]) -> Feed:
    if not isinstance(feed, FileFeed):
        return feed
    others = [other.external for other in feeds if isinstance(other, FileFeed) and other.name != feed.name]
    patterns = [(other.location, (other.pattern, *other.exclude)) for other in others]
    return feed.model_copy(update={"claims": claims(feed.external.location, patterns)})


def declared_feeds(
    sources: Iterable[Mapping[str, Any]],
) -> tuple[dict[str, Feed], dict[str, DeclarationError]]:
    """Validate the feeds among a manifest's sources, each on its own.

    Args:
        sources: source nodes of dbt's manifest, as dictionaries.

    Returns:
        The valid feeds by name, in the order of their names, and the errors of the others by name.
    """
    feeds: dict[str, Feed] = {}
    invalid: dict[str, DeclarationError] = {}
    for node in sorted((node for node in sources if node.get("external")), key=lambda node: node["name"]):
        name = node["name"]
        try:
            if name in feeds:
                raise DeclarationError(
                    node["original_file_path"],
                    name,
                    "name",
                    f"another feed has this name, in {feeds.pop(name).declared_in}",
                    "Give each feed a unique name.",
                )
            if name not in invalid:
                feeds[name] = _feed(node)
        except DeclarationError as error:
            invalid[name] = error
    for feed in feeds.values():
        others = [other for other in feeds.values() if other.table == feed.table and other.name != feed.name]
        if others:
            invalid[feed.name] = DeclarationError(
                feed.declared_in,
                feed.name,
                "identifier",
                f"the feed '{others[0].name}' in {others[0].declared_in} lands in {feed.table}, too",
                "Give each feed a table of its own.",
            )
    valid = {name: feed for name, feed in feeds.items() if name not in invalid}
    return {name: _with_claims(feed, feeds.values()) for name, feed in valid.items()}, invalid


def choose(
    feeds: Mapping[str, Feed], names: Iterable[str], invalid: Mapping[str, DeclarationError] | None = None
) -> list[Feed]:
    """Return the named feeds, or all feeds if no name is given; of those, the ones that are valid.

    Args:
        feeds: the valid feeds by name.
        names: the names.
        invalid: the errors of the other declared feeds by name.

    Raises:
        LandingError: if a name is not a declared feed.
    """
    declared = {*feeds, *(invalid or {})}
    wanted = list(dict.fromkeys(names)) or list(feeds)
    for name in wanted:
        if name not in declared:
            known = ", ".join(sorted(declared)) or "none"
            raise LandingError(
                f"There is no feed named '{name}' (declared: {known}).",
                f"{did_you_mean(name, declared)}Name a declared feed, or declare it in "
                "models/bronze/_bronze__sources.yml.",
            )
    return [feeds[name] for name in wanted if name in feeds]


def _feed(node: Mapping[str, Any]) -> Feed:
    external = {key: value for key, value in node["external"].items() if value not in (None, [], {})}
    columns = [column for name, column in node["columns"].items() if not name.startswith(METADATA_PREFIX)]
    try:
        validated = external_of(external)
        in_folders = {partition.name for partition in getattr(validated, "partitions", ())}
        columns = [column for column in columns if column["name"] not in in_folders]
        return KINDS.get(external.get("connector"), FileFeed)(
            name=node["name"],
            schema_name=node["schema"],
            identifier=node.get("identifier") or node["name"],
            description=node.get("description", ""),
            declared_in=node["original_file_path"],
            external=validated,
            columns=tuple(_column(column) for column in columns),
        )
    except ValidationError as error:
        raise explained(node, error) from error


def _column(node: Mapping[str, Any]) -> Column:
    meta = {**node.get("meta", {}), **node.get("config", {}).get("meta", {})}
    return Column.model_validate({**node, "field": meta.get("field")})
