"""The types of text values: of a column's values in the sample, and of its later ones in silver."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from python_ingest.scaffold.number_formats import WHOLE, NumberFormat, formats_of, is_code, width_of
from python_ingest.scaffold.time_formats import (
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


@dataclass
class _Candidate:
    """A type, and how many of the values have it."""

    named: str
    fits: Callable[[str], bool]
    odd: list[str] = field(default_factory=list)

    def share(self, counts: Mapping[str, int]) -> float:
        self.odd = [value for value in counts if not self.fits(value)]
        return 1 - sum(counts[value] for value in self.odd) / sum(counts.values())


def type_of(
    counts: Mapping[str, int], name: str = "", wanted: str = "", *, only_times: bool = False
) -> ValueType:
    """Return the type that fits all values of a column.

    Args:
        counts: how often each value occurs, without blanks around it.
        name: the column's name; it shows whether whole numbers are times or dates.
        wanted: the format of its dates, if the user names it.
        only_times: whether only dates and times are looked for, as in JSON, where numbers have their own type.
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
    """Return the type of a format that the user names; a date's format may have a time after it in the values."""
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
    if is_code(list(values)):
        return None
    found = _readings(values)
    if not found:
        return None
    ((written, numbers),) = found[:1]
    others = [each for each, read in found[1:] if read != numbers]
    if (others and written != NumberFormat()) or _are_long_codes(written, numbers):
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
    """Return whether numbers without decimals look like codes: more than 18 digits, or blanks between digits."""
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
        value = next(each for each in values if readings[0][1][each] != readings[1][1][each])
        pair = f"{readings[0][1][value].normalize():f} or {readings[1][1][value].normalize():f}"
        return f"text because {value!r} is {pair}: as_decimal() has decimal_mark and grouping"
    short = next((each for each in SHORT_YEARS if _all_read(each, values)), None)
    if short:
        return f"text because the years have two digits; `--date-format {name}={short}` reads 20yy"
    candidates = _candidates(values, only_times)
    share, best = max(((each.share(values), each) for each in candidates), key=lambda pair: pair[0])
    if share == 1 and readings:
        return "text because signs, exponents, blanks or more than 18 digits look like codes"
    if share < LIKELY or share == 1:
        return ""
    number = sum(values[value] for value in best.odd)
    shown = ", ".join(repr(value) for value in best.odd[:MOST_SHOWN])
    return f"text, not {best.named}, because of {shown} in {number:,} of {sum(values.values()):,}"


def _candidates(values: Mapping[str, int], only_times: bool) -> list[_Candidate]:
    found = [_Candidate("a date or a time", lambda value: bool(read_iso(value)))]
    sample = list(values)[:20]
    for example in sample:
        for each in formats_that_read([example])[:1]:
            found.append(_Candidate("a date or a time", lambda value, each=each: bool(each.read(value))))
    if not only_times:
        found.append(_Candidate("a whole number", lambda value: bool(WHOLE.fullmatch(value))))
        for written in formats_of(sample):
            found.append(_Candidate("a number", lambda value, each=written: each.read(value) is not None))
        for pair in WORDS:
            found.append(_Candidate("yes or no", lambda value, pair=pair: value.lower() in pair))
    return found


def _all_read(text: str, values: Mapping[str, int]) -> bool:
    try:
        whole = format_of(text + (time_format(list(values)) or ""))
    except ValueError:
        return False
    return all(whole.read(value) for value in values)
