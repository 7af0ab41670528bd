"""The `external:` block of a file feed: location, format, and rules of landing."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ByteSize, Field, field_validator, model_validator

from python_ingest.feeds.csv_grammar import Grammar
from python_ingest.feeds.external_excel import ExcelOptions
from python_ingest.feeds.external_partitions import Partitions
from python_ingest.feeds.strict import Strict

OnChange = Literal["reland", "error", "ignore"]
OnLostRows = Literal["stop", "land_again", "accept"]
OnRemoved = Literal["keep", "retract"]
Policy = Literal["evolve", "rescue", "reject", "fail"]

SPANS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


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
Seconds = Annotated[int, BeforeValidator(_seconds), Field(ge=0)]
SIGNS = ("delimiter", "quote", "escape", "comment")
Character = Annotated[str, Field(min_length=1, max_length=1)]


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
    partitions: Partitions = ()
    discovery: Literal["manifest", "modified_after"] = "manifest"
    overlap: Seconds = 3600
    settle: Seconds = 0
    on_change: OnChange = "reland"
    on_lost_rows: OnLostRows = "stop"
    max_files: int = Field(default=10_000, gt=0)
    max_bytes: ByteSize = Field(default=ByteSize(64 * 10**9), gt=0)
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


def csv_options(external: AnyFiles) -> CsvOptions | None:
    """Return how the CSV files of a feed are written: workbooks are converted to such files."""
    options = external.options
    if isinstance(options, ExcelOptions):
        return CsvOptions(header=options.header, null_value=options.null_value, multi_line=True)
    return options if isinstance(options, CsvOptions) else None
