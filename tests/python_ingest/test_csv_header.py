"""The start of a CSV file: its header or why it has none, and how the records below it are read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.external_files import CsvOptions
from python_ingest.files.content import HEAD_BYTES, WHOLE_BYTES, Content
from python_ingest.files.formats.csv_header import Header, read_header
from python_ingest.files.formats.csv_refusals import STRANGER

pytestmark = pytest.mark.R1

NO_HEADER = "it has no header: all its lines are blank, comments or skipped"
IDS = ("id", "name")
SEPARATES = "separates its columns, and the feed's option `delimiter` is ','"


def _read(text: str | bytes, options: dict[str, Any] | None = None, **content: Any) -> Header | str:
    head = text.encode() if isinstance(text, str) else text
    found = Content(head=head[:HEAD_BYTES], **{"size": len(head), "first_lines": 1} | content)
    read = read_header(found, CsvOptions(**options or {}), IDS)
    return read.reason if isinstance(read, Rejection) else read


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "": ({}, "the file is empty: it has no header"),
    "\n \r\n\t": ({}, NO_HEADER),
    "# a\n\n# b": ({"comment": "#"}, NO_HEADER),
    "id,name\n": ({"skip_lines": 1}, NO_HEADER),
    "id,name,ID,x,X": ({}, "the header names 'id', 'x' more than once"),
    "id,,name,\n": ({}, "the header has 2 columns without a name: 2, 4"),
    'id,"name\n1,Ada\n': ({}, "a quote in its header is not closed: 'id,\"name'"),
    'id,"na\nme"\n': ({"multi_line": False}, "a quote in its header is not closed: 'id,\"na'"),
    "id,na\0me\n": ({}, "its header contains NUL bytes"),
    "id;name\n1;2\n": ({}, f"{STRANGER}; ';' {SEPARATES}"),
    '"Name"\t"x"\n': ({}, f"{STRANGER}; '\\t' {SEPARATES}"),
    "2025-01-01,Ada\n": (
        {},
        f"{STRANGER}; it looks like a record: if it is one, set the option `header: false`",
    ),
    "a,b\n1,2\n": ({}, STRANGER),
    "<html>\n": ({}, STRANGER),
    "ID,Name\n1,2\n": (
        {"header": False},
        "its first line is a header, and the feed has the option `header: false`",
    ),
    "id,name\n1,2\n\n": ({"footer": 2}, "it has fewer than 2 lines that may be its `footer`"),
}


def test_each_reason_has_its_own_message() -> None:
    """R1.4: nothing in it, no names, names twice, another delimiter, a record, an open quote."""
    for text, (options, reason) in REFUSED.items():
        assert _read(text, options) == reason, text
    assert _read('id,"na\nme' + "x" * 100_000 + '"\n1,2') == "a quote in its header is not closed: 'id,\"na'"
    assert _read('id,"a\nb",' + "x" * 100_000 + "\n1,2") == "its header is longer than 65.5 kB"
    assert str(_read("\n" * 100_000)).startswith("it has no header: all lines in its first 65.5 kB are blank")
    assert _read("x" * 100_000 + "\nid,name") == "its header is longer than 65.5 kB"
    assert _read(b"id,n\xe4me\n") == "the header is not UTF-8 (option `encoding`): 'id,n\ufffdme'"


def test_how_records_are_read() -> None:
    """R1.1: lines of most files; as one text if a record may span lines or lines are dropped at an end."""
    assert _read("id,name\n1,2\n") == Header(IDS, "utf-8", "id,name")
    assert _read("\nid,name\n1,2\n") == Header(IDS, "utf-8")
    assert _read("id,name\n1,2\n", first_lines=2) == Header(IDS, "utf-8")
    assert _read('"id",name\n1,"a\nb"\n', open_lines=1) == Header(IDS, "utf-8", dropped=1)
    spanning = Header(("id", 'na\nme "x"'), "utf-8", dropped=4)
    assert _read('\n#"x\nid,"na\nme ""x"""\r\n1,2', {"comment": "#"}) == spanning
    for name in ("utf-16-le", "utf-32-be"):
        read = _read("id,name\n1,2\n".encode(name), {"encoding": name[:6]})
        assert read == Header(IDS, name, dropped=1)
    wide = "\ufeffid,name\n1,2\n".encode("utf-16-le")
    assert _read(wide) == Header(IDS, "utf-16-le", dropped=1)
    assert _read("x\ny\nid,name\n1,2\n", {"skip_lines": 2, "footer": 1}) == Header(IDS, "utf-8", dropped=3)
    assert _read("x\n1,2\n", {"skip_lines": 1, "header": False}) == Header(IDS, "utf-8", dropped=1)
    assert (
        _read("\xef", {"encoding": "latin-1", "header": False}, spared=1)
        == "it is UTF-8, not ISO8859-1 (option `encoding`)"
    )
    assert _read("id,name\n", {"encoding": "gbk"}, spared=3) == Header(IDS, "gbk")
    assert _read("id,name\n", {"encoding": "gbk"}, spared=4) == "it is UTF-8, not GBK (option `encoding`)"


def test_files_too_large_for_one_text() -> None:
    """R1.4: Spark's reader finds their records, unless a quote is open or lines are dropped at an end."""
    size = WHOLE_BYTES + 1
    assert _read("id,name\n", size=size) == Header(IDS, "utf-8", "id,name")
    assert _read("id,name\n", size=size, open_lines=2) == Header(IDS, "utf-8", is_streamed=True)
    assert "a quote in it is not closed" in str(
        _read("id,name\n", size=size, open_lines=2, has_odd_quotes=True)
    )
    assert "`skip_lines` and `footer` are for smaller" in str(
        _read("x\nid,name\n", {"skip_lines": 1}, size=size)
    )
    assert _read("\ufeffid,name\n".encode("utf-16-be"), size=size) == Header(
        IDS, "utf-16-be", is_streamed=True
    )


@pytest.mark.parametrize(
    "options",
    [{"skip_lines": -1}, {"footer": -1}, {"comment": '"'}, {"delimiter": "\n"}, {"quote": "\r"}],
    ids=str,
)
def test_options_without_a_meaning_are_refused(options: dict[str, Any]) -> None:
    """R1.4: negative numbers, and signs that another option or a line end has."""
    with pytest.raises(ValidationError):
        CsvOptions(**options)
