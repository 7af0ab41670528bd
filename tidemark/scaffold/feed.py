"""The proposal for a feed: the values for its templates."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from python_ingest.bronze.columns import sql_name
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.column import Proposed, plain_for_dbt, proposed_column
from tidemark.scaffold.key_check import KeyCheck, check_key
from tidemark.scaffold.keys import chosen_key, key_of
from tidemark.scaffold.reading.folder import pattern_of
from tidemark.scaffold.sampling import Sample
from tidemark.scaffold.typed_sample import Dates, TypedSample, typed_sample
from tidemark.scaffold.value_types import ValueType

NEWEST = ("updated_at", "modified_at", "changed_at", "last_updated", "last_modified", "version")
ORDERED = ("date", "timestamp", "timestamp_ntz", "bigint", "int", "smallint", "double", "float")
RAW = "data/raw"
PLACE = ("_batch_id", "_row_number")  # of a landed record: the key of rows that have no other


@dataclass(frozen=True)
class Proposal:
    """A proposed feed with its silver model.

    Attributes:
        name: the feed's name.
        location: the folder of its files.
        pattern: the pattern of their names.
        sample: the sample of the files, with the types of its text.
        columns: the columns.
        key: the columns that identify a record; empty if none do.
        is_guess: whether the user has not named them.
        newest_by: the column that orders versions of a record; None if the file that landed last decides.
        check: what the records show about the key; None without one.
        unordered: names of columns that would order versions, but are text.
        counts: how often each value of a text field occurs in the sample.
        number: the number of records that were read.
    """

    name: str
    location: str
    pattern: str
    sample: Sample
    columns: tuple[Proposed, ...]
    key: tuple[Proposed, ...]
    is_guess: bool
    newest_by: Proposed | None
    check: KeyCheck | None
    unordered: tuple[str, ...]
    counts: Mapping[str, Counter[str]]
    number: int

    @property
    def key_names(self) -> list[str]:
        return [column.name for column in self.key]

    @property
    def unique_key(self) -> str:
        """The key of the silver model as an argument of `config()`."""
        names = self.key_names or list(PLACE)
        return repr(names) if len(names) > 1 else repr(names[0])

    @property
    def rules(self) -> list[str]:
        """The rules, those of columns that must have a value first."""
        strict = [column for column in self.columns if column.is_required or column in self.key]
        others = [column for column in self.columns if column not in strict]
        return [rule for column in (*strict, *others) for rule in column.rules(is_key=column in self.key)]


def proposed(  # noqa: PLR0913
    sample: Sample,
    files: Sequence[Path],
    path: Path,
    name: str | None,
    key: Sequence[str] | None = (),
    *,
    dates: Dates | None = None,
) -> Proposal:
    """Propose a feed for sample files.

    Args:
        sample: the sample of the files.
        files: all files that were found.
        path: the folder of the files, or the only file.
        name: the feed's name; the default is the folder's name under `data/raw`, else the start of the file
            names.
        key: the columns that identify a record; if empty, they are found in the sample; None if none do.
        dates: what the user says about dates.

    Raises:
        TidemarkError: when it finds no valid name or key, a field would be Jinja, or the format of dates is
            not certain.
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
    typed = typed_sample(sample, dates or Dates())
    columns = _columns(sample, typed, entity)
    newest, unordered = _newest(columns) if key is not None else (None, ())
    field = newest.field if newest else None
    fields = () if key is None else _key(typed.sample, key, entity, field, files)
    by_field = {column.field: column for column in columns}
    pattern = pattern_of(files, "" if path.is_dir() or sql_name(folder.name) == given else stem)
    return Proposal(
        given,
        _location(folder),
        pattern,
        typed.sample,
        columns,
        tuple(by_field[field] for field in fields),
        key is not None and not key,
        newest,
        check_key(typed.sample.everything(), fields, field) if fields else None,
        unordered,
        typed.counts,
        typed.number,
    )


def _key(
    sample: Sample, wanted: Sequence[str], entity: str, newest: str | None, files: Sequence[Path]
) -> tuple[str, ...]:
    """Return the fields that identify a record: those that are wanted, or else those that are found."""
    fields = chosen_key(sample, wanted) if wanted else key_of(sample, entity, newest)
    if fields is None:
        raise TidemarkError(
            f"No column of {files[0]}, and no combination of a few, is unique for each record.",
            "Name the columns that identify a record: `--key order_id,line_number`. If none do, use "
            "`--no-key`: silver keeps each record as it landed.",
        )
    return fields


def _columns(sample: Sample, typed: TypedSample, entity: str) -> tuple[Proposed, ...]:
    columns = tuple(
        proposed_column(
            sample, field, entity, typed.values.get(field, ValueType()), is_required=field in typed.required
        )
        for field in sample.types
    )
    twice = {column.name for column in columns} & set(sample.partitions)
    if twice:
        raise TidemarkError(
            f"The files and the names of their folders both have {', '.join(sorted(twice))}.",
            "Rename the folders or the column; a column has one source.",
        )
    of_folders = (
        Proposed(name, name, "string", ValueType(), is_required=False) for name in sample.partitions
    )
    return (*columns, *of_folders)


def _newest(columns: Sequence[Proposed]) -> tuple[Proposed | None, tuple[str, ...]]:
    """Return the column that orders versions of a record, and columns of such a name that are text."""
    named = {column.name: column for column in columns if column.name in NEWEST}
    found = [named[name] for name in NEWEST if name in named]
    ordered = (each for each in found if each.is_required and _orders(each.type))
    return next(ordered, None), tuple(each.name for each in found if each.type == "string")


def _orders(of: str) -> bool:
    return of in ORDERED or of.startswith("decimal")


def _location(folder: Path) -> str:
    """Return the location as dbt reads it; names of folders are no Jinja."""
    relative = os.path.relpath(folder.resolve(), Path.cwd())
    if relative.startswith(f"{RAW}/"):
        below = plain_for_dbt(relative.removeprefix(f"{RAW}/"))
        return f"{{{{ env_var('TIDEMARK_RAW', '{RAW}') }}}}/{below}"
    if relative == ".." or relative.startswith("../"):
        return str(plain_for_dbt(str(folder.resolve())))
    is_scheme = ":" in relative.partition("/")[0]  # to Hadoop
    return str(plain_for_dbt(f"./{relative}" if is_scheme else relative))
