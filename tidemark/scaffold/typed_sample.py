"""The types of a sample's columns: of all values that were read, and of what the user says about dates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal

from python_ingest.bronze.columns import sql_name
from python_ingest.feeds.file_formats import FILE_FORMATS
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.sampling import Sample
from tidemark.scaffold.time_formats import format_of
from tidemark.scaffold.value_types import EPOCHS, NULLS, ValueType, type_of

RECORDS = 200_000  # whose values decide on types
MAX_VALUES_SHOWN = 3


@dataclass(frozen=True)
class Dates:
    """What the user says about dates.

    Attributes:
        formats: the format of each column that is named, by the column's name.
        first: whether the day or the month is first, where the values do not show it.
    """

    formats: Mapping[str, str] = field(default_factory=dict)
    first: Literal["day", "month"] | None = None


@dataclass(frozen=True)
class TypedSample:
    """A sample with the types of its text.

    Attributes:
        sample: the sample, with types by field and None for words for NULL.
        values: the type of each text field.
        required: the fields that have a value in each record.
        counts: how often each value of a text field occurs.
        number: the number of records.
    """

    sample: Sample
    values: dict[str, ValueType]
    required: frozenset[str]
    counts: dict[str, Counter[str]]
    number: int


def typed_sample(sample: Sample, dates: Dates) -> TypedSample:
    """Find the type of each text field.

    Args:
        sample: the sample of the files.
        dates: what the user says about dates.

    Raises:
        TidemarkError: when the values do not show whether the day or the month is first, or a format that the
            user names does not fit.
    """
    is_text = FILE_FORMATS[sample.file_format].holds_text
    texts = [name for name, of in sample.types.items() if is_text or of == "string"]
    wanted = _wanted(sample, dates)
    counts: dict[str, Counter[str]] = {name: Counter() for name in texts}
    filled, number = Counter[str](), 0
    for record in islice(sample.everything(), RECORDS):
        number += 1
        for name, value in record.items():
            if value is not None:
                filled[name] += 1
                if name in counts and isinstance(value, str):
                    counts[name][value.strip()] += 1
    values: dict[str, ValueType] = {}
    for name in texts:
        found = type_of(counts[name], name, wanted.get(name, ""), only_times=not is_text)
        values[name] = _decided(name, found, counts[name], dates)
        if name in wanted and values[name].type not in ("date", "timestamp"):
            raise TidemarkError(
                f"{name}: not all of its values are dates in the format {wanted[name]}, such as "
                f"{', '.join(map(repr, list(counts[name])[:MAX_VALUES_SHOWN]))}.",
                "Name another format in `--date-format`, or leave it out.",
            )
        filled[name] -= sum(counts[name][word] for word in counts[name] if _is_null(values[name], word))
    if is_text:
        values = _without_open_points(values, counts)
    required = frozenset(name for name in sample.types if filled[name] == number)
    return TypedSample(_cleaned(sample, values), values, required, counts, number)


def _wanted(sample: Sample, dates: Dates) -> dict[str, str]:
    names = {sql_name(name): name for name in sample.types} | {name: name for name in sample.types}
    for column, text in dates.formats.items():
        if column not in names:
            raise TidemarkError(
                f"The files have no column {column}.",
                f"Use one of these columns in `--date-format`: {', '.join(sample.types)}.",
            )
        try:
            if text not in EPOCHS:
                format_of(text)
        except (ValueError, re.error) as error:
            raise TidemarkError(
                f"`--date-format {column}={text}` is not a valid date format: {error}.",
                "Write it as in d/M/yyyy, dd-MMM-yyyy or M/d/yyyy h:mm[:ss] a.",
            ) from None
    return {names[column]: text for column, text in dates.formats.items()}


def _decided(name: str, found: ValueType, counts: Counter[str], dates: Dates) -> ValueType:
    """Return a type with the format that the user chooses where the values do not decide."""
    if not found.choices:
        return found
    chosen = [each for each in found.choices if dates.first == ("day" if each.startswith("d") else "month")]
    if not chosen:
        shown = ", ".join(list(counts)[:MAX_VALUES_SHOWN])
        options = " or ".join(
            f"`--date-format {name}={re.split('[ T,]', each)[0]}`" for each in found.choices
        )
        raise TidemarkError(
            f"{name}: the values do not show whether the day or the month is first: {shown}.",
            f"Say it for this column with {options}, or for all with `--day-first` or `--month-first`.",
        )
    return replace(found, arguments=(("format", chosen[0]),), choices=())


def _without_open_points(
    values: dict[str, ValueType], counts: dict[str, Counter[str]]
) -> dict[str, ValueType]:
    """Leave numbers such as 1.234 as text if another column has decimal commas: it may be 1234."""
    commas = [name for name, of in values.items() if ("decimal_mark", ",") in of.arguments]
    if not commas:
        return values
    decided = dict(values)
    for name, of in values.items():
        marks = [value for value in counts[name] if "." in value]
        is_open = all(re.fullmatch("[+-]?[0-9]{1,3}[.][0-9]{3}", value) for value in marks)
        if of.type.startswith("decimal") and name not in commas and marks and is_open:
            why = f"text because {commas[0]} has decimal commas: {marks[0]!r} may be a number of thousands"
            decided[name] = ValueType(nulls=of.nulls, note=why)
    return decided


def _is_null(of: ValueType, value: str) -> bool:
    return not value or (of.type != "string" and value.lower() in NULLS)


def _cleaned(sample: Sample, values: Mapping[str, ValueType]) -> Sample:
    """Return the sample with its types, and None for words for NULL, which stay values in text."""

    def clean(record: dict[str, Any]) -> dict[str, Any]:
        nulls = [
            name
            for name, of in values.items()
            if isinstance(value := record.get(name), str) and _is_null(of, value.strip())
        ]
        return record | dict.fromkeys(nulls) if nulls else record

    def everything() -> Iterator[dict[str, Any]]:
        return map(clean, sample.everything())

    kept = {name: of.nulls for name, of in values.items() if of.type == "string" and any(of.nulls)}
    return replace(
        sample,
        types=sample.types | {name: of.type for name, of in values.items()},
        records=[clean(record) for record in sample.records],
        kept_nulls=kept,
        more=partial(everything) if sample.more else None,
    )
