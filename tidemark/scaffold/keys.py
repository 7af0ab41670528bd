"""Find the columns that identify a record of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any

from python_ingest.bronze.columns import sql_name
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.sampling import Sample

COLUMNS = 20  # most columns from which groups are made
GROUP = 4  # most columns in a group
TRIES = 10  # most groups, unique in the sample, that are checked on all records
RECORDS = 500_000
USABLE = ("string", "bigint", "int", "date", "timestamp")
IDS = ("id", "key", "code", "uuid", "guid", "number", "no")

Record = Mapping[str, Any]


def chosen_key(sample: Sample, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the fields that a user names as the key.

    Args:
        sample: the sample of the files.
        wanted: names of fields, as in the file or as in SQL.

    Raises:
        TidemarkError: when a field does not exist, or no record has a value in all of them.
    """
    names = {sql_name(field): field for field in sample.types} | {field: field for field in sample.types}
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise TidemarkError(
            f"The files have no column {', '.join(unknown)}.",
            f"Use some of these columns in `--key`: {', '.join(sample.types)}.",
        )
    fields = tuple(dict.fromkeys(names[name] for name in wanted))
    if not any(all(row.get(field) is not None for field in fields) for row in sample.records):
        raise TidemarkError(
            f"No record has a value in {', '.join(fields)}.", "Use columns with values in `--key`."
        )
    return fields


def key_of(sample: Sample, entity: str, newest: str | None) -> tuple[str, ...] | None:
    """Return the fields that identify a record in the files that were read, or None.

    Identical records count once. Records with the same id are versions of one record only if a column shows
    which version is the newest.

    Args:
        sample: the sample of the files.
        entity: what one record is, such as `invoice`; `invoice_id` and `id` are tried first.
        newest: the field that grows with each version, or None.
    """
    records = list({repr(row): row for row in sample.records}.values())
    filled = [name for name in sample.types if _is_usable(sample, name) and name != newest]
    named = (f"{entity}_id", "id", f"{entity}id", f"{entity}_number", "uuid", "key")
    first = next((field for name in named for field in filled if sql_name(field) == name), None)
    if first and (newest or any(_holding(sample, records, [(first,)]))):
        return (first,)
    ids = [name for name in filled if is_id(name)]
    for group in _holding(sample, records, _groups(ids, [])):
        return group
    if ids and newest:
        return (max(ids, key=lambda name: len({row[name] for row in records})),)
    for group in _holding(sample, records, _groups(*_ranked(sample, filled))):
        return group
    return None


def _is_usable(sample: Sample, name: str) -> bool:
    no_nulls = all(row.get(name) is not None for row in sample.records) and name not in sample.kept_nulls
    return sample.types[name] in USABLE and no_nulls


def is_id(name: str) -> bool:
    """Return whether the name of a field says that it identifies something."""
    return sql_name(name).rpartition("_")[2] in IDS


def _ranked(sample: Sample, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return fields that may be part of a key, likely ones first; numbers, often measures, are separate."""
    rank = {"date": 1, "timestamp": 1}
    ids = {*filter(is_id, names), next(iter(sample.types))}  # the first column often identifies a record
    likely = sorted(names, key=lambda name: 0 if name in ids else rank.get(sample.types[name], 2))[:COLUMNS]
    numbers = [name for name in likely if "int" in sample.types[name] and name not in ids]
    return [name for name in likely if name not in numbers], numbers


def _groups(likely: Sequence[str], numbers: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield groups of fields: first those with few numbers, and among these the small groups first."""
    for count in range(GROUP + 1):
        for size in range(max(count, 1), GROUP + 1):
            for some, others in product(combinations(likely, size - count), combinations(numbers, count)):
                yield (*some, *others)


def _holding(
    sample: Sample, records: Sequence[Record], groups: Iterable[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """Yield the groups that identify all records, among the first few that do so in the sample."""
    promising = (group for group in groups if _identifies_records(records, group))
    for group in islice(promising, TRIES):
        if _identifies_records(islice(sample.everything(), RECORDS), group):
            yield group


def _identifies_records(records: Iterable[Record], fields: tuple[str, ...]) -> bool:
    """Return whether different records always differ in the fields."""
    seen: dict[int, int] = {}
    for row in records:
        whole = hash(repr(row))
        if seen.setdefault(hash(tuple(row.get(field) for field in fields)), whole) != whole:
            return False
    return True
