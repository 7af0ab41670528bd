"""The cast macros on many values in one query, compared with Python."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.files.formats.rescue import text_in_sql
from tidemark.engine.dbt_core import commands
from tidemark.scaffold.number_formats import NumberFormat
from tidemark.scaffold.time_formats import format_of, read_iso

pytestmark = pytest.mark.R1

NUMBERS = """02134 +5 -0 0 5.0 1e2 9223372036854775807 9223372036854775808 ٣ 1.250 .5 5. +1.25 1.1234567891
007.5 - . 1d 1.1234567890 1e-9 1e-10 1e-30 1e18 1e19 1234567890123456789.5 12345678901234567890 NaN Infinity
1_000"""
TIMES = """2024-01-01 10:00:00|08:15:00|T9:30|2024|2024-06|2024-06-05|2024-06-05 10:00:00 Europe/Paris
|2024-06-05T10:00+02|2024-06-05T10:00:00+0530|2024-01-01T10:00:00.123456789Z|2024-01-01T10:00:00.1230000000Z
|2024-02-30 10:00|2024-01-01 24:00:00|2024-01-01 10:00:60|0000-00-00|2024-01-01 10:00 -05:00
|2024-06-05 10:00 Xx/Yy"""
DATES = "9/30/2024 30/9/2024 09/05/2024 2/30/2024 9/30/24 9/30/20245 2/29/2023 2/29/2024 /1/2024"
US, GERMAN = NumberFormat(grouping=",", strip="$"), NumberFormat(decimal_mark=",", grouping=".")


def _whole(value: str) -> Any:
    return int(value) if re.fullmatch("0|-?[1-9][0-9]*", value) and -(2**63) <= int(value) < 2**63 else None


def _decimal(value: str) -> Any:
    if not re.fullmatch(r"[+-]?[0-9.]+([eE][+-]?[0-9]{1,2})?", value) or re.match("[+-]?0[0-9]", value):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    fits = abs(number) < Decimal(10) ** 19
    return number if fits and number == number.quantize(Decimal("1e-9")) else None


def _in(written: NumberFormat) -> Callable[[str], Any]:
    def read(value: str) -> Any:
        number = written.read(value)
        return number if number is None or _decimal(f"{number:f}") is not None else None

    return read


def _day(value: str) -> Any:
    found = format_of("M/d/yyyy").read(value)
    return found.date() if found else None


def _numbers(random_numbers: random.Random) -> list[str]:
    signs = "0123456789.,-+e $"
    made = ["".join(random_numbers.choices(signs, k=random_numbers.randint(1, 9))) for _ in range(300)]
    grown = [
        f"{random_numbers.randint(-(10**7), 10**7) / 10 ** random_numbers.randint(0, 4):,}" for _ in range(60)
    ]
    swapped = [value.translate(str.maketrans(",.", ".,")) for value in grown]
    return [*NUMBERS.split(), *made, *grown, *swapped, *(f"${value}" for value in grown)]


def _times(random_numbers: random.Random, layout: str) -> list[str]:
    start = datetime(1950, 1, 1, tzinfo=UTC)
    spans = (timedelta(seconds=random_numbers.randint(0, 4 * 10**9)) for _ in range(80))
    values = [(start + span).strftime(layout) for span in spans]
    broken = []
    for value in values[:40]:
        at = random_numbers.randrange(len(value))
        broken.append(value[:at] + random_numbers.choice("0159/-: TZ+") + value[at + 1 :])
    return values + broken


def test_casts_equal_those_of_python(spark: SparkSession) -> None:
    """R1.2: strict in every type: a value that the type would alter, or that is not whole, is NULL."""
    numbers = random.Random(39)
    amounts = _numbers(numbers)
    listed = TIMES.replace("\n", "").split("|")
    stamps = [*listed, *_times(numbers, "%Y-%m-%dT%H:%M:%S+02:00"), *_times(numbers, "%Y-%m-%d %H:%M:%S")]
    clock, named = "M/d/yyyy h:mm[:ss] a", "EEE, d MMM yyyy HH:mm:ss XXX"
    cases: list[tuple[str, list[str], Callable[[str], Any]]] = [
        ("as_integer('v')", amounts, _whole),
        ("as_decimal('v')", amounts, _decimal),
        ("as_decimal('v', grouping=',', strip='$')", amounts, _in(US)),
        ("as_decimal('v', decimal_mark=',', grouping='.')", amounts, _in(GERMAN)),
        ("as_date('v', 'M/d/yyyy')", [*DATES.split(), *_times(numbers, "%m/%d/%Y")], _day),
        ("as_timestamp('v')", stamps, read_iso),
        (f"as_timestamp('v', '{clock}')", _times(numbers, "%m/%d/%Y %I:%M %p"), format_of(clock).read),
        (
            f"as_timestamp('v', '{named}')",
            _times(numbers, "%a, %d %b %Y %H:%M:%S -0300"),
            format_of(named).read,
        ),
        ("as_date('v')", listed, lambda v: _date(v) if len(v) == 10 else None),
        (
            "as_double('v')",
            ["1e300", "1e400", "NaN", "05", "1d", "1.5e-8"],
            {"1e300": 1e300, "1.5e-8": 1.5e-8}.get,
        ),
        ("as_boolean('v', ['yes'], ['no'])", ["Yes", "NO", "n"], {"Yes": True, "NO": False}.get),
        ("as_text('v', ['', 'NA'])", ["a", "na", "", "NAB"], {"a": "a", "NAB": "NAB"}.get),
        ("as_timestamp('v', zone='Europe/Berlin')", ["2024-07-01 12:00"], lambda v: read_iso(f"{v}+02:00")),
        (
            "as_timestamp('v', 'epoch_millis')",
            ["0", "x", "1.5"],
            {"0": datetime(1970, 1, 1, tzinfo=UTC)}.get,
        ),
    ]
    selects = []
    for number, (macro, values, _) in enumerate(cases):
        rows = ", ".join(f"({at}, {text_in_sql(pad(value, at))})" for at, value in enumerate(values))
        cast = "cast({{ " + macro + " }} as string)"
        selects.append(f"select {number} as n, i, {cast} as r from values {rows} as t(i, v)")
    sql = " union all ".join(selects)
    shown = commands.invoke_dbt(
        ["--log-level=none", "show", "--inline", sql, "--limit", "100000", "--output", "json"]
    )
    found = {(int(row[0]), int(row[1])): row[2] for row in shown.results[0].agate_table.rows}
    wrong = []
    for number, (macro, values, expected) in enumerate(cases):
        for at, value in enumerate(values):
            got, wanted = found[number, at], expected(value.strip())
            if not _same(got, wanted):
                wrong.append((macro, value, got, wanted))
    assert not wrong, json.dumps(wrong[:20], default=str, indent=1)


def pad(value: str, number: int) -> str:
    """Put blanks around some values."""
    return f"\t{value}\u00a0 " if number % 3 == 0 else value


def _date(value: str) -> date | None:
    try:
        return date.fromisoformat(value) if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None
    except ValueError:
        return None


def _same(got: Any, wanted: Any) -> bool:
    if wanted is None or got is None:
        return wanted is got
    if isinstance(wanted, datetime):
        return datetime.fromisoformat(f"{got[:19]}+00:00") == wanted.replace(microsecond=0)
    if isinstance(wanted, (int, float, Decimal)) and not isinstance(wanted, bool):
        return Decimal(str(got)) == Decimal(str(wanted))
    return str(got).lower() == str(wanted).lower()
