"""The types of text values: of a column's values in the sample, and of its later ones in silver."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from tidemark.scaffold.number_formats import WHOLE, NumberFormat, formats_of, is_code, width_of
from tidemark.scaffold.time_formats import (
    ISO_DATE,
    SHORT_YEARS,
    Format,
    format_of,
    formats_that_read,
    read_iso,
    time_format,
)

NULLS = ("", "-", ".", "?", "#n/a", "(null)", "<na>", "\\n", "n/a", "na", "nan", "nat", "nil", "none", "null")
WORDS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
EPOCHS = {"epoch_seconds": range(10**9, 3 * 10**9), "epoch_millis": range(10**12, 3 * 10**12)}
EPOCH_NAME = re.compile(r"(?i)(^|_)(epoch|unix|unixtime|ts|timestamp)(_|$)|_at$|[a-z](At|Timestamp)$")
DAY_NAME = re.compile(r"(?i)(^|_)(date|day|dt)(_|$)|(date|day|Dt)$")
MOST_SHOWN = 3
EXAMPLES = 20  # values whose formats the others are compared with
LIKELY = 0.5  # the share of values from which a type is named that the others do not have


@dataclass(frozen=True)
class ValueType:
    """The type of a column's text.

    Attributes:
        type: the SQL type in silver.
        arguments: arguments of the cast's macro.
        nulls: the words for NULL among the values, as they are written.
        note: what decided, if it is not plain.
        choices: the formats of dates between which the values do not decide.
    """

    type: str = "string"
    arguments: tuple[tuple[str, Any], ...] = ()
    nulls: tuple[str, ...] = ()
    note: str = ""
    choices: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The format of dates and times; empty for ISO 8601."""
        return str(dict(self.arguments).get("format", ""))

    def read(self, value: str) -> Any:
        """Return what orders a date, a time or a number; None if the value has not this type."""
        if self.type in ("date", "timestamp"):
            return _reader(self.format)(value)
        known = {"decimal_mark", "grouping", "strip"}
        signs = {name: sign for name, sign in self.arguments if name in known}
        return NumberFormat(**signs).read(value)


def type_of(
    counts: Mapping[str, int], name: str = "", wanted: str = "", *, only_times: bool = False
) -> ValueType:
    """Return the type that fits all values of a column.

    Args:
        counts: how often each value occurs, without blanks around it.
        name: the column's name; it shows whether whole numbers are times or dates.
        wanted: the format of its dates, if the user names it.
        only_times: whether only dates and times are looked for, as in JSON, whose numbers have types.
    """
    words = tuple(sorted(value for value in counts if value.lower() in NULLS))
    values = {value: count for value, count in counts.items() if value not in words}
    if not values:
        return ValueType(nulls=words)
    found = _time(values, name, wanted)
    if not only_times and not found:
        found = _number(values) or _boolean(values)
    if found:
        return ValueType(found.type, found.arguments, words, found.note, found.choices)
    return ValueType(nulls=words, note=_why_text(values, name, only_times))


def _time(values: Mapping[str, int], name: str, wanted: str) -> ValueType | None:
    if wanted:
        return _declared(values, wanted)
    first = next(iter(values))
    if first.isdigit():
        return _number_as_time(values, name)
    read = {value: read_iso(value) for value in values}
    if all(read.values()):
        days = sum(len(value) == len(ISO_DATE) for value in values)
        if days == len(values):
            return ValueType("date")
        with_zone = sum(bool(re.search("(Z|UTC|GMT|[+-][0-9:]{2,6}|/[A-Za-z_-]+)$", v[11:])) for v in values)
        notes = [f"{days} of {len(values)} are dates alone: the start of the day"] if days else []
        notes += ["no zone: UTC"] if with_zone == 0 else []
        notes += ["some without a zone: UTC"] if 0 < with_zone < len(values) - days else []
        return ValueType("timestamp", note="; ".join(notes))
    formats = formats_that_read(values)
    if not formats:
        return None
    return _chosen(values, formats)


def _chosen(values: Mapping[str, int], formats: list[Format]) -> ValueType:
    of = "timestamp" if {"H", "h"} & set(formats[0].groups) else "date"
    choices = tuple(each.text for each in formats) if len(formats) > 1 else ()
    zone = "" if of == "date" or "X" in formats[0].groups else "no zone: UTC"
    return ValueType(of, (("format", formats[0].text),), note=zone, choices=choices)


def _declared(values: Mapping[str, int], wanted: str) -> ValueType | None:
    """Return the type of a format that the user names; in the values, a time may follow a date."""
    if wanted in EPOCHS:
        return ValueType("timestamp", (("format", wanted),))
    format_of(wanted)
    has_time = {"H", "h"} & set(format_of(wanted).groups)
    whole = wanted if has_time else wanted + (time_format(list(values)) or "")
    if all(format_of(whole).read(value) for value in values):
        return _chosen(values, [format_of(whole)])
    return None


def _number_as_time(values: Mapping[str, int], name: str) -> ValueType | None:
    """Return the type of whole numbers that are times, if the column's name says so."""
    if not all(value.isdigit() and value.isascii() for value in values):
        return None
    for epoch, numbers in EPOCHS.items():
        if EPOCH_NAME.search(name) and all(int(value) in numbers for value in values):
            return ValueType("timestamp", (("format", epoch),), note="whole numbers, by the column's name")
    days = format_of("yyyyMMdd")
    if DAY_NAME.search(name) and all(len(value) == 8 and days.read(value) for value in values):
        return ValueType("date", (("format", "yyyyMMdd"),), note="whole numbers, by the column's name")
    return None


def _number(values: Mapping[str, int]) -> ValueType | None:
    if all(WHOLE.fullmatch(value) for value in values):
        return ValueType("bigint")
    found = [] if is_code(list(values)) else _readings(values)
    if not found:
        return None
    written, numbers = found[0]
    is_open = written != NumberFormat() and any(read != numbers for _, read in found)
    if is_open or _are_long_codes(written, numbers):
        return None
    width = width_of(numbers)
    if any("e-" in value.lower() or not _is_short(value) for value in values):
        return ValueType("double")
    if not width:
        return None
    sizes = (("precision", width[0]), ("scale", width[1]))
    note = {"%": "percentages: 5% becomes 5"}.get(written.strip, "")
    return ValueType(f"decimal({width[0]}, {width[1]})", (*sizes, *written.arguments), note=note)


def _readings(values: Mapping[str, int]) -> list[tuple[NumberFormat, dict[str, Decimal]]]:
    """Return the formats that read all values, with what they read."""
    found = []
    for written in formats_of(list(values)):
        numbers = {value: written.read(value) for value in values}
        read = {value: number for value, number in numbers.items() if number is not None}
        if len(read) == len(values):
            found.append((written, read))
    return found


def _are_long_codes(written: NumberFormat, numbers: Mapping[str, Decimal]) -> bool:
    """Return whether whole numbers look like codes: more than 18 digits, or blanks between them."""
    if written.strip or any(number != number.to_integral_value() for number in numbers.values()):
        return False
    return written.grouping.strip() != written.grouping or any(abs(n) >= 10**18 for n in numbers.values())


def _is_short(value: str) -> bool:
    """Return whether `as_decimal` accepts the exponent of a number."""
    mantissa, _, exponent = value.lower().partition("e")
    return not exponent or (sum(map(str.isdigit, mantissa)) <= 15 and len(exponent.strip("+-")) <= 2)


def _boolean(values: Mapping[str, int]) -> ValueType | None:
    lower = {value.lower() for value in values}
    for true, false in WORDS:
        if lower == {true, false} or (true == "true" and lower <= {true, false}):
            words = (("true_words", [true]), ("false_words", [false]))
            return ValueType("boolean", words)
    return None


def _reader(text: str) -> Callable[[str], Any]:
    if text in EPOCHS:
        return lambda value: int(value) if re.fullmatch("-?[0-9]{1,14}", value) else None
    return format_of(text).read if text else read_iso


def _why_text(values: Mapping[str, int], name: str, only_times: bool) -> str:
    """Return why a column is text although most of its values have another type."""
    readings = [] if only_times else _readings(values)
    if len(readings) > 1 and readings[0][0] != NumberFormat():
        (_, first), (_, second) = readings[:2]
        for value in (value for value in values if first[value] != second[value]):
            pair = f"{first[value].normalize():f} or {second[value].normalize():f}"
            return f"text because {value!r} is {pair}: as_decimal() has decimal_mark and grouping"
    short = next((each for each in SHORT_YEARS if _all_read(each, values)), None)
    if short:
        return f"text because the years have two digits; `--date-format {name}={short}` reads 20yy"
    if readings:
        return "text because signs, exponents, blanks or more than 18 digits look like codes"
    odd = {named: [value for value in values if not fits(value)] for named, fits in _near(values, only_times)}
    numbers = {named: sum(values[value] for value in some) for named, some in odd.items()}
    best, total = min(numbers, key=lambda named: numbers[named]), sum(values.values())
    if not odd[best] or numbers[best] > total * (1 - LIKELY):
        return ""
    shown = ", ".join(repr(value) for value in odd[best][:MOST_SHOWN])
    return f"text, not {best}, because of {shown} in {numbers[best]:,} of {total:,}"


def _near(values: Mapping[str, int], only_times: bool) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield types in words, with a function that returns whether a value has the type."""
    yield "a date or a time", read_iso
    examples = list(values)[:EXAMPLES]
    found = {each.text: each for example in examples for each in formats_that_read([example])[:1]}
    for text, each in found.items():
        yield f"a date or a time ({text})", each.read
    if not only_times:
        yield "a whole number", WHOLE.fullmatch
        for written in formats_of(examples):
            yield "a number", partial(_is_number, written)
        yield "yes or no", partial(_is_word, ("true", "false", "yes", "no"))


def _is_number(written: NumberFormat, value: str) -> bool:
    return written.read(value) is not None


def _is_word(words: tuple[str, ...], value: str) -> bool:
    return value.lower() in words


def _all_read(text: str, values: Mapping[str, int]) -> bool:
    whole = format_of(text + (time_format(list(values)) or ""))
    return all(whole.read(value) for value in values)
