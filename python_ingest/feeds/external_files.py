"""The `external:` block of a feed of files: where they are, how they are written, when they are landed."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

OnChange = Literal["reland", "error", "ignore"]
OnLostRows = Literal["stop", "land_again", "accept"]
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


Bytes = Annotated[int, BeforeValidator(_bytes), Field(gt=0)]
Seconds = Annotated[int, BeforeValidator(_seconds), Field(ge=0)]
Character = Annotated[str, Field(min_length=1, max_length=1)]


class Strict(BaseModel):
    """A part of the block: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CsvOptions(Strict):
    """How a CSV file is written.

    Attributes:
        delimiter: between fields.
        quote: around fields that hold a delimiter or a quote.
        escape: before a quote inside a field; the quote itself doubles it.
        null_value: the text, or the texts, that stand for NULL.
        encoding: a name that Python and Java know; a byte order mark is recognized.
        multi_line: True when a quoted field may hold line breaks.
        comment: lines that begin with it are no records.
        header: False when the first line is a record, with the declared columns in their order.
    """

    delimiter: Character = ","
    quote: Character = '"'
    escape: Character = '"'
    null_value: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    multi_line: bool = False
    comment: Character | None = None
    header: bool = True

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
        return self


class JsonOptions(Strict):
    """How a JSON file is written.

    Attributes:
        whole_file: True when a file is one object or one array of objects; else each line is an object.
    """

    whole_file: bool = False


class NoOptions(Strict):
    """Avro and Parquet files say themselves how they are written."""


class Contract(Strict):
    """What becomes of a file whose columns are not the declared ones.

    Attributes:
        new_column: `evolve` adds it to bronze, `rescue` keeps it in `_rescued_data`.
        missing_column: `evolve` and `rescue` leave it NULL; `evolve` records that once.
        type_change: `evolve` widens bronze's column, or sets the file aside where that cannot be; `rescue`
            keeps in `_rescued_data` the values that do not fit.

    In all three `reject` sets the file aside; `fail` stops the landing before anything of its batch lands.
    """

    new_column: Policy = "rescue"
    missing_column: Policy = "reject"
    type_change: Policy = "rescue"


class JsonContract(Contract):
    """The same; in JSON any field may be left out."""

    missing_column: Policy = "rescue"


class FilesExternal(Strict):
    """What the formats of files have in common.

    Attributes:
        location: the folder that holds the feed's files, and the root that none may leave.
        pattern: a glob: without `/` for file names at any depth, with `/` for paths below the location.
        discovery: `manifest` looks at every file's path, size and time; `modified_after` only at files
            modified after the newest one that was landed, less `overlap`.
        overlap: how late a file may appear with an older time, under `modified_after`.
        settle: a file younger than this may still be written, and is left for the next run.
        on_change: what to do with a landed file that has other bytes now.
        on_lost_rows: what to do where bronze no longer has rows that were landed: `stop` the landing,
            `land_again` their files, or `accept` that they are gone.
        max_files, max_bytes: bounds of one batch.
        max_rejected_records, max_rejected_share: how many of a batch's records may be broken, and which
            part of them (0 to 1); with more, none of the batch lands.
        contract: what becomes of files with other columns.
    """

    location: str = Field(min_length=1)
    pattern: str = Field(default="*", min_length=1)
    discovery: Literal["manifest", "modified_after"] = "manifest"
    overlap: Seconds = 3600
    settle: Seconds = 0
    on_change: OnChange = "reland"
    on_lost_rows: OnLostRows = "stop"
    max_files: int = Field(default=10_000, gt=0)
    max_bytes: Bytes = 64 * 10**9
    max_rejected_records: int | None = Field(default=None, ge=0)
    max_rejected_share: float | None = Field(default=None, ge=0, le=1)
    contract: Contract = Contract()

    @field_validator("pattern")
    @classmethod
    def _stays_inside(cls, pattern: str) -> str:
        if pattern.startswith("/") or ".." in pattern.split("/") or "\\" in pattern:
            raise ValueError("it must be below the location: no leading `/`, no `..`, no `\\`")
        return pattern


class CsvExternal(FilesExternal):
    """The block of a feed of CSV files."""

    file_format: Literal["csv"]
    options: CsvOptions = CsvOptions()


class JsonExternal(FilesExternal):
    """The block of a feed of JSON files."""

    file_format: Literal["json"]
    options: JsonOptions = JsonOptions()
    contract: JsonContract = JsonContract()


class TypedExternal(FilesExternal):
    """The block of a feed of files that know their columns and types."""

    file_format: Literal["avro", "parquet"]
    options: NoOptions = NoOptions()


AnyFiles = CsvExternal | JsonExternal | TypedExternal
