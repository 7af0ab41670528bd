"""Formats of dates and times, with the patterns of the macros `as_date` and `as_timestamp`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAMES = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
ZONE = r"(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_-]+)+)"
PIECES = {  # as in the macro time_pattern
    "yyyy": "([0-9]{4})",
    "yy": "([0-9]{2})",
    "MMM": f"({NAMES})[.]?",
    "hh": "(0[1-9]|1[0-2])",
    "h": "(0?[1-9]|1[0-2])",
    "a": "([ap])[.]?m[.]?",
    " ": "[ \u00a0\u202f]+",
    "EEEE": "(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    "EEE": "(?:mon|tue|wed|thu|fri|sat|sun)[.]?",
    "[": "(?:",
    "]": ")?",
    "SSS": "([0-9]{1,6})0*",
    "XXX": ZONE,
    **{letter * 2: "([0-9]{2})" for letter in "MdHms"},
    **{letter: "([0-9]{1,2})" for letter in "MdHms"},
}
TOKENS = re.compile(r"'[^']*'|y+|M+|d+|E+|H+|h+|m+|s+|S+|X+|.")
ISO_DATE = "yyyy-MM-dd"
DATES = (
    ISO_DATE, "yyyy-M-d", "yyyy/M/d", "yyyy.M.d", "M/d/yyyy", "d/M/yyyy", "d.M.yyyy", "M.d.yyyy", "d-M-yyyy",
    "M-d-yyyy", "d-MMM-yyyy", "d/MMM/yyyy", "d MMM yyyy", "d. MMM yyyy", "yyyy-MMM-d", "MMM d, yyyy",
    "MMM d yyyy", "EEE, d MMM yyyy", "EEE, MMM d, yyyy", "EEEE, MMM d, yyyy", "EEEE, d MMM yyyy",
)  # fmt: skip
SHORT_YEARS = ("M/d/yy", "d/M/yy", "d.M.yy", "d-M-yy", "d-MMM-yy")  # of which century, nothing shows
TIME = re.compile(
    r"(?i)(?P<sep>'?T|, | +|:)(?P<hour>[0-9]{1,2}):[0-9]{2}(?P<second>:[0-9]{2}(?P<fraction>[.][0-9]+)?)?"
    r"(?P<half>[ \u00a0\u202f]?[ap][.]?m[.]?)?(?:(?P<blank> ?)(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{0,2}"
    r"|[A-Z]+(?:/[A-Z_-]+)+))?$"
)
ISO_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,6})0*)?)?"
    rf"(?: ?{ZONE})?)?"
)


@dataclass(frozen=True)
class Format:
    """A format with its regular expression.

    Attributes:
        text: the format, as Java's DateTimeFormatter has it.
        pattern: the expression for values.
        groups: the first letters of the pieces that the expression's groups hold.
    """

    text: str
    pattern: re.Pattern[str]
    groups: tuple[str, ...]

    def read(self, value: str) -> datetime | None:
        """Return the time in UTC that a value names, or None."""
        found = self.pattern.fullmatch(value)
        if not found:
            return None
        pieces = dict(zip(self.groups, (group or "" for group in found.groups()), strict=True))
        month = pieces["M"] if pieces["M"].isdigit() else str(MONTHS.index(pieces["M"][:3].lower()) + 1)
        hour = int(pieces.get("H") or pieces.get("h") or 0)
        if "a" in pieces:
            hour = hour % 12 + (12 if pieces["a"].lower() == "p" else 0)
        year = f"20{pieces['y']}" if len(pieces["y"]) == 2 else pieces["y"]
        day = (int(year), int(month), int(pieces["d"]))
        rest = (int(pieces.get("m") or 0), int(pieces.get("s") or 0), int(f"{pieces.get('S', ''):0<6}"))
        return _time(day, (hour, *rest), pieces.get("X", ""))


@cache
def format_of(text: str) -> Format:
    """Return a format with its regular expression.

    Raises:
        ValueError: when the macros do not know a part of the format, or it names no whole date.
    """
    pattern, groups = "", []
    for part in TOKENS.findall(text):
        known = {"MMMM": "MMM"}.get(part, {"S": "SSS", "X": "XXX"}.get(part[0], part))
        if known not in PIECES and part[0] in "yMdHhmsE":
            raise ValueError(f"it has {part}")
        literal = "".join(sign if sign.isalnum() else f"[{sign}]" for sign in part.strip("'"))
        piece = PIECES.get(known, literal)
        if piece.startswith("(") and not piece.startswith("(?:"):
            groups.append(part[0])
        pattern += piece
    if not {"y", "M", "d"} <= set(groups) or len(groups) > len(set(groups)):
        raise ValueError("it needs a year, a month and a day, each once")
    return Format(text, re.compile(pattern, re.IGNORECASE | re.ASCII), tuple(groups))


def read_iso(value: str) -> datetime | None:
    """Return the time in UTC that a value in ISO 8601 names, or None; a date is the start of the day."""
    found = ISO_TIME.fullmatch(value)
    if not found:
        return None
    day, clock, second, fraction, zone = (group or "" for group in found.groups())
    year, month, date = map(int, day.split("-"))
    hour, minute = map(int, (clock or "00:00").split(":"))
    return _time((year, month, date), (hour, minute, int(second or 0), int(f"{fraction:0<6}")), zone)


def formats_that_read(values: Iterable[str]) -> list[Format]:
    """Return the formats that read all values, beyond ISO 8601.

    Args:
        values: different values without blanks around them.
    """
    values = list(values)
    time = time_format(values)
    if time is None:
        return []
    formats = [format_of(date + time) for date in DATES if date != ISO_DATE or time]
    return [each for each in formats if all(each.read(value) for value in values)]


def time_format(values: Sequence[str]) -> str | None:
    """Return the format of the times that follow dates: empty without times, None if only some have them."""
    found = [TIME.search(value) for value in values]
    times = [each for each in found if each]
    if not times:
        return ""
    if len(times) < len(values):
        return None
    separators = {each["sep"].strip("'")[:1].upper() for each in times}
    if len(separators) > 1:
        return None
    (first,) = separators
    separator = {"T": "'T'", ",": ", "}.get(first, first)
    half = next((each["half"] for each in times if each["half"]), "")
    fraction = "[.SSS]" if any(each["fraction"] for each in times) else ""
    zones = [each for each in times if each["zone"]]
    blank = " " if any(each["blank"] for each in zones) else ""
    zone = f"{blank}XXX" if len(zones) == len(times) else f"[{blank}XXX]" if zones else ""
    hour = "h" if half else "H"
    return (
        f"{separator}{hour}:mm[:ss{fraction}]{(' a' if half[0] not in 'aApP' else 'a') if half else ''}{zone}"
    )


def _time(day: tuple[int, int, int], clock: tuple[int, int, int, int], zone: str) -> datetime | None:
    try:
        return datetime(*day, *clock, tzinfo=_zone(zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, time or zone
        return None


def _zone(zone: str) -> tzinfo:
    if zone.upper() in ("", "Z", "UTC", "GMT"):
        return UTC
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        return timezone(
            (1 if zone[0] == "+" else -1) * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        )
    try:
        return ZoneInfo(zone)
    except (OSError, KeyError):
        raise ValueError(zone) from None
