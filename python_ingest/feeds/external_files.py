"""The `external:` block of a file feed: location, format, and rules of landing."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from python_ingest.feeds.csv_grammar import Grammar

OnChange = Literal["reland", "error", "ignore"]
OnLostRows = Literal["stop", "land_again", "accept"]
OnRemoved = Literal["keep", "retract"]
Policy = Literal["evolve", "rescue", "reject", "fail"]

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
SPANS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def _bytes(value: Any) -> Any:
    """Read `64 MB` as a number of bytes."""
    found = re.fullmatch(r"(\d+) *([a-z]*)", str(value).strip().lower())
    if not found or found[2].removesuffix("bytes").strip() not in UNITS:
        raise ValueError("write it as 64 MB, 1 GiB or a number of bytes")
    return int(found[1]) * UNITS[found[2].removesuffix("bytes").strip()]


def _seconds(value: Any) -> Any:
    """Read `2 hours` as a number of seconds."""
    found = re.fullmatch(r"(\d+) *([a-z]+?)s?", str(value).strip().lower())
    if not found or found[2] not in SPANS:
        raise ValueError("write it as 30 seconds, 10 minutes, 2 hours or 1 day")
    return int(found[1]) * SPANS[found[2]]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Share = Annotated[float, Field(ge=0, le=1)]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(gt=0)]
Seconds = Annotated[int, BeforeValidator(_seconds), Field(ge=0)]
SIGNS = ("delimiter", "quote", "escape", "comment")
Character = Annotated[str, Field(min_length=1, max_length=1)]


class Strict(BaseModel):
    """A part of the block; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CsvOptions(Strict):
    """The format of a CSV file.

    Attributes:
        delimiter: separates fields.
        quote: encloses fields that contain a delimiter or a quote.
        escape: precedes a quote inside a field; if it is the quote itself, quotes are doubled.
        null_value: the text, or the texts, that stand for NULL.
        encoding: a name that Python and Java know; a byte order mark is recognized.
        multi_line: False if each line is a record, even if a quoted field has no closing quote in it.
        comment: lines that begin with it are not records.
        header: False if the first line is a record; then the declared columns are in the file's order.
        skip_lines: how many lines at the start are neither header nor records; blank lines count.
        footer: how many lines at the end are not records; blank lines and comments do not count.
    """

    delimiter: Character = ","
    quote: Character = '"'
    escape: Character = '"'
    null_value: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    multi_line: bool = True
    comment: Character | None = None
    header: bool = True
    skip_lines: int = Field(default=0, ge=0, le=1000)
    footer: int = Field(default=0, ge=0, le=1000)

    @field_validator("null_value", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            return codecs.lookup(value).name
        except LookupError:
            raise ValueError("unknown encoding") from None

    @model_validator(mode="after")
    def _differ(self) -> CsvOptions:
        if self.delimiter in (self.quote, self.escape, self.comment):
            raise ValueError("delimiter must differ from quote, escape and comment")
        if self.comment in (self.quote, self.escape):
            raise ValueError("comment must differ from quote and escape")
        if found := [name for name in SIGNS if getattr(self, name) in ("\r", "\n")]:
            raise ValueError(f"{found[0]} must not be a line break")
        return self

    @property
    def grammar(self) -> Grammar:
        """The grammar of the files."""
        return Grammar(self.delimiter, self.quote, self.escape, self.comment, self.multi_line)


class JsonOptions(Strict):
    """The format of a JSON file.

    Attributes:
        whole_file: True if a file is one object or one array of objects; otherwise each line is an object.
    """

    whole_file: bool = False


class ExcelOptions(Strict):
    """What of an Excel workbook lands.

    Attributes:
        sheet: the name of the sheet; None for the only one that holds something.
        header: False if the first row is a record; then the declared columns are in the sheet's order.
        skip_lines: number of rows above the header, or above the first record.
        footer: number of last rows that are not records.
        null_value: the text, or the texts, that stand for NULL.
    """

    sheet: str | None = None
    header: bool = True
    skip_lines: int = Field(default=0, ge=0)
    footer: int = Field(default=0, ge=0)
    null_value: tuple[str, ...] = ("",)

    @field_validator("null_value", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    def as_csv(self) -> CsvOptions:
        """Return the format of the CSV files to which workbooks are converted."""
        return CsvOptions(header=self.header, null_value=self.null_value, multi_line=True)


class NoOptions(Strict):
    """Avro, ORC and Parquet files describe their own format."""


class Contract(Strict):
    """How to treat a file whose columns differ from the declared ones.

    Attributes:
        new_column: `evolve` adds it to bronze, `rescue` keeps it in `_rescued_data`.
        missing_column: `evolve` and `rescue` leave it NULL; `evolve` records that once.
        type_change: `evolve` widens bronze's column, or rejects the file if that is impossible; `rescue`
            keeps the values that do not fit in `_rescued_data`.

    For all three, `reject` rejects the file, and `fail` stops the landing before any of its batch lands.
    """

    new_column: Policy = "rescue"
    missing_column: Policy = "reject"
    type_change: Policy = "rescue"


class JsonContract(Contract):
    """The contract for JSON, in which any field may be missing."""

    missing_column: Policy = "rescue"


class Partition(Strict):
    """A column whose values are in the names of folders: `year=2025/` for the column `year`.

    Attributes:
        name: the name of the column in bronze, and in the folders.
        data_type: `string`; silver casts the values.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    data_type: Literal["string"] = "string"


class FilesExternal(Strict):
    """The settings that all file formats share.

    Attributes:
        location: the folder that contains the feed's files; no path may lead outside it.
        pattern: a glob: without `/` for file names at any depth, with `/` for paths below the location.
        exclude: globs of files that do not land, even if `pattern` matches them.
        partitions: columns whose values are in the names of folders, as dbt-external-tables declares them.
        discovery: `manifest` compares every file's path, size and time; `modified_after` only those of files
            modified after the newest landed file, less `overlap`.
        overlap: how late a file with an older time may appear, under `modified_after`.
        settle: a file younger than this may still be written, and is left for the next run.
        on_change: what to do with a landed file whose content has changed.
        on_lost_rows: what to do if landed rows are missing from bronze: `stop` the landing, `land_again`
            their files, or `accept` the loss.
        max_files, max_bytes: limits of one batch.
        max_rejected_records, max_rejected_share: how many records of a batch may be broken, and which
            share of them (0 to 1); with more, nothing of the batch lands.
        key: the declared columns that identify a record within a file.
        newest_by: the declared column that tells the versions of a key apart.
        max_repeated_share: which share of a file's records (0 to 1) may be lost because others with the same
            key have another content; with more, nothing of the batch lands.
        on_removed: what to do with rows that a file no longer has, and with rows of files that are gone:
            `keep` them, or `retract` their keys.
        max_removed_share: which share of the landed files (0 to 1) may be gone at once under `retract`.
        contract: how to treat files with other columns.
        pii: columns with personal values, which the proof of `tidemark erase` searches in all files.
        hash_pii: whether bronze has HMAC-SHA256 of these values, under the secret TIDEMARK_PII_KEY.
    """

    location: str = Field(min_length=1)
    pattern: str = Field(default="*", min_length=1)
    exclude: tuple[str, ...] = ()
    partitions: tuple[Partition, ...] = ()
    discovery: Literal["manifest", "modified_after"] = "manifest"
    overlap: Seconds = 3600
    settle: Seconds = 0
    on_change: OnChange = "reland"
    on_lost_rows: OnLostRows = "stop"
    max_files: int = Field(default=10_000, gt=0)
    max_bytes: Bytes = 64 * 10**9
    max_rejected_records: int | None = Field(default=None, ge=0)
    max_rejected_share: float | None = Field(default=None, ge=0, le=1)
    key: Names = ()
    newest_by: Name | None = None
    max_repeated_share: Share | None = None
    on_removed: OnRemoved = "keep"
    max_removed_share: Share = 0.5
    contract: Contract = Contract()
    pii: tuple[str, ...] = ()
    hash_pii: bool = False

    @property
    def source(self) -> str:
        """The name of the source: the folder."""
        return self.location

    @field_validator("partitions", mode="before")
    @classmethod
    def _without_descriptions(cls, value: Any) -> Any:
        """Drop what dbt adds to a partition: its description and its meta."""
        if not isinstance(value, (list, tuple)):
            return value
        known = Partition.model_fields
        return [
            {key: of for key, of in one.items() if key in known and of is not None}
            if isinstance(one, dict)
            else {"name": one}
            for one in value
        ]

    @field_validator("partitions")
    @classmethod
    def _names_differ(cls, value: tuple[Partition, ...]) -> tuple[Partition, ...]:
        names = [partition.name for partition in value]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"declared twice: {', '.join(twice)}")
        return value

    @field_validator("exclude", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("pattern", "exclude")
    @classmethod
    def _stays_inside(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for pattern in (value,) if isinstance(value, str) else value:
            if not pattern or pattern.startswith("/") or ".." in pattern.split("/") or "\\" in pattern:
                raise ValueError("it must be below the location: no leading `/`, no `..`, no `\\`")
        return value

    @model_validator(mode="after")
    def _have_a_key(self) -> FilesExternal:
        uses = {
            "newest_by": self.newest_by,
            "max_repeated_share": self.max_repeated_share is not None,
            "on_removed: retract": self.retracts,
        }
        for option, is_set in uses.items():
            if is_set and not self.key:
                raise ValueError(f"`{option}` needs `key`, the columns that identify a record")
        if self.retracts and self.discovery != "manifest":
            raise ValueError("`on_removed: retract` needs `discovery: manifest`, which compares all files")
        if self.retracts and self.on_lost_rows == "land_again":
            raise ValueError("`on_removed: retract` cannot be combined with `on_lost_rows: land_again`")
        return self

    @property
    def retracts(self) -> bool:
        """True if rows that disappear from the files are retracted."""
        return self.on_removed == "retract"


class CsvExternal(FilesExternal):
    """The block of a CSV feed."""

    file_format: Literal["csv"]
    options: CsvOptions = CsvOptions()


class ExcelExternal(FilesExternal):
    """The block of a feed of Excel workbooks; Excel itself writes `~$name` while a workbook is open."""

    exclude: tuple[str, ...] = ("~$*",)
    file_format: Literal["excel"]
    options: ExcelOptions = ExcelOptions()


class JsonExternal(FilesExternal):
    """The block of a JSON feed."""

    file_format: Literal["json"]
    options: JsonOptions = JsonOptions()
    contract: JsonContract = JsonContract()


class TypedExternal(FilesExternal):
    """The block of a feed whose files contain their columns and types."""

    file_format: Literal["avro", "orc", "parquet"]
    options: NoOptions = NoOptions()


AnyFiles = CsvExternal | ExcelExternal | JsonExternal | TypedExternal
