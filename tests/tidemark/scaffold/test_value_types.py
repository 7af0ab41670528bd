"""The types that `tidemark add` proposes for text: formats, what decided, and what it asks."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.feed import proposed
from tidemark.scaffold.sampling import Sample
from tidemark.scaffold.time_formats import format_of, read_iso
from tidemark.scaffold.typed_sample import Dates, typed_sample
from tidemark.scaffold.value_types import ValueType, type_of

pytestmark = [pytest.mark.R1, pytest.mark.core]
DECIMAL = {"precision": 28, "scale": 9}
US, GERMAN = {"grouping": ","}, {"decimal_mark": ",", "grouping": "."}


def of(*values: str, name: str = "", wanted: str = "") -> ValueType:
    return type_of(Counter(values), name, wanted)


@pytest.mark.parametrize(
    ("values", "type_name", "arguments"),
    [
        (["90210", "-7", "0"], "bigint", {}),
        (["0", "1"], "bigint", {}),
        (["2.5", "3.5", "4"], "decimal(28, 9)", DECIMAL),
        (["1.250", ".5", "5.", "+1.25", "1e2"], "decimal(28, 9)", DECIMAL),
        (["0.1234567890123456", "5.5"], "decimal(38, 18)", {"precision": 38, "scale": 18}),
        (["1" * 30 + ".5"], "decimal(38, 1)", {"precision": 38, "scale": 1}),
        (["1.5e-5", "3.25"], "double", {}),
        (["1,234,567", "5"], "decimal(28, 9)", DECIMAL | US),
        (["1.234,50", "2"], "decimal(28, 9)", DECIMAL | GERMAN),
        (["12,5", "1,25"], "decimal(28, 9)", DECIMAL | {"decimal_mark": ","}),
        (["1 234,50", "5"], "decimal(28, 9)", DECIMAL | {"decimal_mark": ",", "grouping": " "}),
        (["1'234.5"], "decimal(28, 9)", DECIMAL | {"grouping": "'"}),
        (["$1,234.50", "-$5"], "decimal(28, 9)", DECIMAL | US | {"strip": "$"}),
        (["5 %", "12.5%"], "decimal(28, 9)", DECIMAL | {"strip": "%"}),
        (["2024-01-01", "2024-01-02"], "date", {}),
        (["2024-01-01 10:00:00+02", "2024-01-01T10:00Z"], "timestamp", {}),
        (["2024-01-01 10:00:00", "2024-01-02"], "timestamp", {}),
        (["9/30/2024 10:00", "10/1/2024 09:00"], "timestamp", {"format": "M/d/yyyy H:mm[:ss]"}),
        (["30/9/2024", "1/10/2024"], "date", {"format": "d/M/yyyy"}),
        (["30.9.2024"], "date", {"format": "d.M.yyyy"}),
        (["05-Sep-2024", "5-OCT-2024"], "date", {"format": "d-MMM-yyyy"}),
        (["Sep 5, 2024", "September 6, 2024"], "date", {"format": "MMM d, yyyy"}),
        (["2024/09/30"], "date", {"format": "yyyy/M/d"}),
        (["9/30/2024 1:05 PM"], "timestamp", {"format": "M/d/yyyy h:mm[:ss] a"}),
        (["Mon, 30 Sep 2024 10:00:00 +0200"], "timestamp", {"format": "EEE, d MMM yyyy H:mm[:ss] XXX"}),
        (["true", "TRUE"], "boolean", {"true_words": ["true"], "false_words": ["false"]}),
        (["yes", "No"], "boolean", {"true_words": ["yes"], "false_words": ["no"]}),
    ],
)
def test_types_with_their_formats(values: list[str], type_name: str, arguments: dict[str, object]) -> None:
    """R1.2: width and scale come from the family of numbers, not from the longest value."""
    found = of(*values)
    assert (found.type, dict(found.arguments), found.choices) == (type_name, arguments, ())


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["02134", "501", "7"], "text, not a whole number, because of '02134' in 1 of 3"),
        (["5"] * 498 + ["n/a?"] * 2, "text, not a whole number, because of 'n/a?' in 2 of 500"),
        (
            ["+4930123", "+491"],
            "text because signs, exponents, blanks or more than 18 digits look like codes",
        ),
        (["12E4", "1234"], "text because signs, exponents, blanks or more than 18 digits look like codes"),
        (["1234567890123456789", "5"], "text because signs, exponents, blanks or more than 18 digits"),
        (["123 456 789"], "text because signs, exponents, blanks"),
        (["1,234", "567"], "text because '1,234' is 1.234 or 1234"),
        (["5%", "7", "8"], "text, not a whole number, because of '5%' in 1 of 3"),
        (["€5", "$6", "€7"], "text, not a number, because of '$6' in 1 of 3"),
        (["2024-02-30", "2024-02-28"], "text, not a date or a time, because of '2024-02-30' in 1 of 2"),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00.123456789Z"], "because of '2024-01-01T10:00:00.12"),
        (["9/30/24"], "text because the years have two digits; `--date-format day=M/d/yy` reads 20yy"),
        (["08:15:00", "T9:30"], ""),
        (["F", "F"], ""),
        (["NO", "SE"], ""),
    ],
)
def test_text_and_what_decided(values: list[str], why: str) -> None:
    """R1.2: no type alters a value, and the odd values are named."""
    found = of(*values, name="day")
    assert found.type == "string"
    assert why in found.note


def test_column_names_determine_the_type_of_whole_numbers() -> None:
    """R1.2: a number is a time or a date only if the column's name says so."""
    assert of("1700000000").type == of("20240930").type == "bigint"
    assert of("1700000000", name="created_at").format == "epoch_seconds"
    assert of("1700000000123", name="event_ts").format == "epoch_millis"
    assert of("20240930", name="order_date").format == "yyyyMMdd"


def test_words_for_null_have_no_type() -> None:
    """R1.2: among numbers they are NULL, alone they are text."""
    assert of("NA", "5") == ValueType("bigint", nulls=("NA",))
    assert of("NA", "null").type == "string"
    assert type_of(Counter(["5", "7"]), only_times=True).type == "string"


def _sample(**columns: list[str]) -> Sample:
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Sample("csv", {}, dict.fromkeys(columns, "string"), records)


def test_an_ambiguous_date_order_is_asked_for() -> None:
    """R1.2: the day or the month is first only where the values show it, or the user says it."""
    sample = _sample(day=["9/3/2024 10:00", "1/2/2024 11:00"])
    with pytest.raises(TidemarkError, match=r"(?s)day: .*whether the day.*`--date-format day=M/d/yyyy` or"):
        typed_sample(sample, Dates())
    assert typed_sample(sample, Dates(first="day")).values["day"].format == "d/M/yyyy H:mm[:ss]"
    named = typed_sample(sample, Dates({"day": "M/d/yyyy"}))
    assert named.values["day"].format == "M/d/yyyy H:mm[:ss]"
    short = typed_sample(_sample(day=["9/30/24"]), Dates({"day": "M/d/yy"})).values["day"]
    assert (short.type, short.format) == ("date", "M/d/yy")
    for formats, words in (
        ({"day": "d-M-yyyy"}, "not all of its values"),
        ({"day": "QQ"}, "is not a valid date format"),
        ({"town": "d-M-yyyy"}, "no column town"),
    ):
        with pytest.raises(TidemarkError, match=words):
            typed_sample(sample, Dates(formats))


def test_a_decimal_comma_in_another_column_does_not_decide_thousands() -> None:
    """R1.2: 1.234 is 1234 in a file with decimal commas."""
    found = typed_sample(_sample(price=["1,5", "2,25"], people=["1.234", "5.678"]), Dates()).values
    assert found["price"].type == "decimal(28, 9)"
    assert found["people"].type == "string"
    assert "has decimal commas: '1.234'" in found["people"].note


def test_text_columns_do_not_decide_the_newest_row(tmp_path: Path) -> None:
    """R1.2: only dates, times and numbers order versions; a date's order is not that of its text."""
    file = tmp_path / "lines.csv"
    times = _sample(line_id=["1", "2"], updated_at=["9/30/2024 10:00", "10/1/2024 09:00"])
    feed = proposed(times, [file], file, None)
    assert feed.newest_by
    assert feed.newest_by.value.read("9/30/2024 10:00") < feed.newest_by.value.read("10/1/2024 09:00")
    text = proposed(_sample(line_id=["1", "2"], updated_at=["monday", "sunday"]), [file], file, None)
    assert (text.newest_by, text.unordered) == (None, ("updated_at",))


def test_a_key_is_checked_on_all_records(tmp_path: Path) -> None:
    """R1.2: exact copies, different records with one key, and NULLs are counted apart."""
    file = tmp_path / "lines.csv"
    copies = _sample(shop=["N", "N", "N", "S"], qty=["1", "1", "1", "2"])
    (note,) = proposed(copies, [file], file, None, ["shop"]).check.notes()
    assert note == ("copies", "2 rows are exact copies of others: they count once in silver")
    counties = _sample(state=["IA"] * 3 + [""], country=["US"] * 4, cases=["10", "20", "30", "4"])
    counties.records[3]["state"] = None
    shared, missing = proposed(counties, [file], file, None, ["state", "country"]).check.notes()
    assert shared[1].startswith(
        "state, country: 3 different records share (IA, US); in all, 3 records have 1 key"
    )
    assert missing[1] == "state: 1 of 4 records have no value: they are rejected"


def test_times_of_values() -> None:
    """R1.2: a value without a full time is not a time; offsets and zones are allowed."""
    ten = datetime(2024, 6, 5, 10, tzinfo=UTC)
    assert read_iso("2024-06-05 12:00:00 Europe/Paris") == read_iso("2024-06-05T15:30+0530") == ten
    for value in (
        "08:15:00",
        "T9:30",
        "2024",
        "2024-06",
        "2024-02-30",
        "2024-06-05 10:00:60",
        "2024-06-05 10",
    ):
        assert read_iso(value) is None
    assert format_of("M/d/yyyy h:mm a").read("6/5/2024 12:00 am") == ten.replace(hour=0)
    assert format_of("EEE, d MMM yyyy HH:mm:ss XXX").read("Wed, 5 June 2024 12:00:00 +0200") == ten
