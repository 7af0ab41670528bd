"""Hostile files, drawn by hypothesis, and what readers other than Spark find in them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Row = tuple[str | None, str | None]
BLANKS = "".join(map(chr, range(33)))
HEADERS = ("id,name", "name,id", "ID,Name", "\ufeffid,name", '"name",id,"e-mail, work"')
NASTY = st.sampled_from("\",\\;'|\t \x01\x0b\x0c\x1c\x7f\x85\u2028\ufeff\ufffd=+@-#é日🙂𐏿")
FIELD = st.text(NASTY | st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=12)
RAW = st.binary(max_size=8).filter(lambda raw: b"\x00" not in raw)
LINE = st.one_of(
    st.tuples(FIELD, FIELD).map(",".join),
    st.lists(FIELD, max_size=4).map(",".join),
    st.lists(FIELD, min_size=2, max_size=3).map(lambda fields: written([fields]).rstrip("\r\n")),
    st.sampled_from(["id,name", '1,"open', '1,two ""']),
)


@dataclass(frozen=True)
class CsvFile:
    """A file of lines; its records are those that Python's universal newlines give."""

    content: bytes

    @property
    def header(self) -> list[str]:
        text = self.content.decode("utf-8-sig", "replace")
        return [name.lower() for name in next(csv.reader(re.split("[\r\n]", text)[:1]))]

    def lines(self) -> list[str]:
        text = io.TextIOWrapper(io.BytesIO(self.content), "utf-8-sig", "replace", newline=None)
        return [line.rstrip("\n") for line in text if line.strip(BLANKS)][1:]

    def row(self, line: str) -> Row | None:
        """Return the row of a line that a strict reader takes; None for other lines."""
        if "\ufffd" in line or "\\" in line:
            return None
        try:
            fields = next(csv.reader([line], strict=True))
        except (csv.Error, StopIteration):
            return None
        if len(fields) != len(self.header):
            return None
        values = dict(zip(self.header, fields, strict=True))
        return values["id"] or None, values["name"] or None


def has_open_quote(line: str) -> bool:
    """Return whether a strict reader finds the end of a line inside quotes."""
    try:
        next(csv.reader([line], strict=True))
    except csv.Error as error:
        return "unexpected end of data" in str(error) and "\\" not in line and "\ufffd" not in line
    return False


@st.composite
def csv_files(draw: st.DrawFn) -> CsvFile:
    """Lines with any text, some with bytes that are no text, ended in any way."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [line.encode() for line in draw(st.lists(LINE, max_size=8))]
    lines += draw(st.lists(RAW, max_size=2))
    blank = draw(st.sampled_from(["", " ", "\t\t"]))
    lines = draw(st.permutations([*lines, blank.encode()]))
    last = draw(st.sampled_from([b"", end.encode()]))
    header = draw(st.sampled_from(HEADERS)).encode()
    return CsvFile(end.encode().join([header, *lines]) + last)


def written(rows: list[list[str]]) -> str:
    """Return rows as Python's CSV writer writes them."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


FIELDS_OF_LINES = st.text(st.sampled_from('ab",\n ;é🙂'), max_size=8)


@st.composite
def spanning_rows(draw: st.DrawFn) -> list[list[str]]:
    """Rows whose fields may hold line breaks, quotes and delimiters; none is blank."""
    field = FIELDS_OF_LINES.map(str.strip)
    rows = draw(st.lists(st.tuples(field, field), max_size=6))
    return [[f"x{one}", other] for one, other in rows]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8),
)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3)
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(st.integers(-100, 2**64), VALUES),
        "name": VALUES,
        "Name": VALUES,
        "more": VALUES,
    },
)
BROKEN = st.sampled_from(
    [
        '{"id": 1',
        "[1, 2]",
        "17",
        '"x"',
        "{}{}",
        '{"id": 1} x',
        '{"id": 1, "id": 2}',
        "null",
        "{id: 1}",
        "}{",
        "nul",
    ]
)


def dumped(value: Any, *, ascii_only: bool = True) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=ascii_only)


def drawn(strategy: st.SearchStrategy[Any], number: int) -> list[Any]:
    """Return so many examples of a strategy, the same in every run."""
    found: list[Any] = []

    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    run: Callable[[], None] = collect
    run()
    return found
