"""Formats of numbers, with the patterns of the macros `as_integer`, `as_decimal` and `as_double`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

WHOLE = re.compile("(?:0|-?[1-9][0-9]{0,17})")
CURRENCIES = "$€£¥₹₽₩₺₪฿₫₴"
BLANKS = " \u00a0\u202f"
FAMILIES = ((28, 9), (38, 18))  # precision and scale


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written.

    Attributes:
        decimal_mark: the sign before the decimals.
        grouping: the signs of which one may stand between groups of three digits.
        strip: a currency sign, or `%`.
    """

    decimal_mark: str = "."
    grouping: str = ""
    strip: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression for values; its groups are the whole part, the decimals and the exponent."""
        grouped = f"|[1-9][0-9]{{0,2}}(?:[{self.grouping}][0-9]{{3}})+" if self.grouping else ""
        digits = f"(?=[0-9{self.decimal_mark}])(0|[1-9][0-9]*{grouped})?(?:[{self.decimal_mark}]([0-9]*))?"
        if self.strip == "%":
            return re.compile(f"[+-]?{digits}() ?%")
        if self.strip:
            sign = f"[{self.strip}]"
            return re.compile(f"(?:[+-]? ?{sign} ?|{sign} ?[+-]|[+-])?{digits}()(?: ?{sign})?")
        return re.compile(f"[+-]?{digits}([eE][+-]?[0-9]{{1,3}})?" if not grouped else f"[+-]?{digits}()")

    def read(self, value: str) -> Decimal | None:
        """Return the number, or None."""
        found = self.pattern.fullmatch(value)
        if not found or not (found[1] or found[2]):
            return None
        whole = "".join(sign for sign in found[1] or "0" if sign.isdigit())
        number = Decimal(f"{whole}.{found[2] or '0'}{found[3] or ''}")
        return -number if "-" in value[: found.start(1) if found[1] else found.start(2)] else number

    @property
    def arguments(self) -> tuple[tuple[str, Any], ...]:
        """What differs from the defaults of `as_decimal`."""
        named = (("decimal_mark", self.decimal_mark), ("grouping", self.grouping), ("strip", self.strip))
        return tuple((name, sign) for name, sign in named if sign and (name, sign) != ("decimal_mark", "."))


def formats_of(values: Sequence[str]) -> list[NumberFormat]:
    """Return the formats in which the values may be written, the simplest first."""
    text = "".join(values)
    strip = max(f"%{CURRENCIES}", key=text.count)
    strip = strip if strip in text else ""
    blanks = "".join(sign for sign in BLANKS if sign in text)
    quotes = "".join(sign for sign in "'’" if sign in text)
    pairs = [(".", ""), (",", ""), (".", ","), (",", "."), *((mark, blanks) for mark in ".," if blanks)]
    pairs += [(".", quotes)] if quotes else []
    return [NumberFormat(mark, grouping, strip) for mark, grouping in pairs]


def is_code(values: Sequence[str]) -> bool:
    """Return whether the values look like phone numbers or codes: signs or exponents, and no decimals."""
    without = not any("." in value or "," in value for value in values)
    return without and any(re.search("^[+]|[0-9][eE]", value) for value in values)


def width_of(numbers: Mapping[str, Decimal]) -> tuple[int, int] | None:
    """Return precision and scale of the smallest family that holds all numbers; None if no decimal does."""
    tuples = [number.as_tuple() for number in numbers.values()]
    scale = max((max(-int(each.exponent), 0) for each in tuples), default=0)
    whole = max((max(len(each.digits) + int(each.exponent), 0) for each in tuples), default=0)
    families = (each for each in FAMILIES if scale <= each[1] and whole <= each[0] - each[1])
    return next(families, (38, scale) if scale + whole <= 38 else None)
