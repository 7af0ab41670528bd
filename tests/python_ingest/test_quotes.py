"""CSV records over several lines, open quotes, skipped lines and footers: no record is invented or lost."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import re
import zipfile
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.csv_grammar import Grammar, in_python
from python_ingest.files import contents, streams
from python_ingest.files.formats import csv_header
from python_ingest.files.formats.csv import Csv
from python_ingest.files.formats.lines import CONTROLS, HOLDS_NUL, ILLEGIBLE, OPEN
from python_ingest.files.landing import Lander
from python_ingest.files.text_checks import TextChecks
from tests.conftest import FeedFolder, MakeFeed
from tests.fuzz.files import drawn, spanning_rows, written

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]

COLUMNS = {"id": "string", "n": "string", "note": "string"}
WIDTH = "expected 3 fields, as in the header"
OPEN_FILE = 'id,n,note\n10,5,ok\n11,6,"open quote\n12,7,c\n13,8,d\n14,9,e\n'
AFTER_OPEN = [
    ("10", "5", "ok"),
    ('11,6,"open quote', OPEN),
    ("12", "7", "c"),
    ("13", "8", "d"),
    ("14", "9", "e"),
]
MIXED = (
    'id,n,note\n20,5,5" pipe\n21,6,"mid" quote\n22,7,"a"b"c"\n23,8,"bs \\" end"\n24,9,ok\n\n'
    '25,1,"x\ny"\n26,2,"tail"  \n27,3,\n28,4,""\n'
)
FILES: dict[str, tuple[str | bytes, list[tuple[str | None, ...]]]] = {
    "two lines.csv": (
        'id,n,note\n1,5,"two\nlines"\n2,6,plain\n',
        [("1", "5", "two\nlines"), ("2", "6", "plain")],
    ),
    "open.csv": (OPEN_FILE, AFTER_OPEN),
    "open.csv.gz": (gzip.compress(OPEN_FILE.encode()), AFTER_OPEN),
    "open.csv.bz2": (bz2.compress(OPEN_FILE.replace("\n", "\r").encode()), AFTER_OPEN),
    "open utf-16.csv": (OPEN_FILE.encode("utf-16"), AFTER_OPEN),
    "mixed.csv": (
        MIXED,
        [
            ("20", "5", '5" pipe'),
            ("21", "6", '"mid" quote'),
            ("22", "7", '"a"b"c"'),
            ("23", "8", '"bs \\" end"'),
            ("24", "9", "ok"),
            ("25", "1", "x\ny"),
            ("26", "2", "tail"),
            ("27", "3", None),
            ("28", "4", None),
        ],
    ),
    "like a record.csv": (
        'id,note,n\nA3,"hello\nB9,fake",999\nA4,plain,30\n',
        [("A3", "999", "hello\nB9,fake"), ("A4", "30", "plain")],
    ),
    "even.csv": ('id,n,note\n5","x\ny",6"\n', [('5"', "x\ny", '6"')]),
    "inch.csv": ('id,n,note\n1,5" a,"x\ny"\n2,6" b,"x\n"\n', [("1", '5" a', "x\ny"), ("2", '6" b', "x\n")]),
    "windows.csv": (
        '\ufeff"id",n,note\r\n1,2,"a\r\n\r\nb"\r\n3,4,c\r\n',
        [("1", "2", "a\r\n\r\nb"), ("3", "4", "c")],
    ),
    "mac.csv": ('id,n,note\r1,2,"a\rb"\r3,4,c\r', [("1", "2", "a\rb"), ("3", "4", "c")]),
    "header.csv": ('id,n,"note","more\nof ""it"""\n1,2,a,b\n', [("1", "2", "a")]),
    "width.csv": (
        'id,n,note\n1,"a\nb",c,d\n2,3,"x,\n4,5,"y"\n',
        [('1,"a\nb",c,d', WIDTH), ('2,3,"x,', OPEN), ("4", "5", "y")],
    ),
    "bytes.csv": (
        b'id,n,note\n1,2,"\xe9\nx"\n3,4,"\xc3\xa9\ny"\n5,6,"\0\nz"\n',
        [('1,2,"\ufffd\nx"', ILLEGIBLE), ("3", "4", "é\ny"), ('5,6,"\0\nz"', HOLDS_NUL)],
    ),
    "empty lines.csv": (
        '\n \nid,n,note\n\n1,2,"\n\n"\n\t\nid,n,note\n',
        [("1", "2", "\n\n"), ("id", "n", "note")],
    ),
}


def _landed(people: FeedFolder) -> dict[str, list[tuple[Any, ...]]]:
    """Return by file its rows: the values, or the record that cannot be read with its reason."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in people.spark.table(people.feed.table).orderBy("_row_number").collect():
        good = tuple(row[name] for name in COLUMNS)
        broken = (row["_corrupt_record"], row["_corrupt_reason"])
        found[row["_source_file"]].append(broken if row["_corrupt_reason"] else good)
    return found


@pytest.mark.core
def test_records_over_several_lines(make_feed: MakeFeed) -> None:
    """R1.1: a quoted line break is part of its value; an open quote breaks one line and no other record."""
    people = make_feed(COLUMNS, pattern="*")
    for name, (content, _) in FILES.items():
        people.write(name, content)
    outcome = people.land()
    assert outcome.rejected == {}
    found = _landed(people)
    for name, (_, expected) in FILES.items():
        assert found[name] == expected, name
    assert people.rows("_rescued_data")[0] == ('{"more\\nof \\"it\\"":"b"}',)
    people.spark.sql(
        f"update {people.ops_schema}.rejected_records set raw_record = "
        "case when path = 'open.csv' then '11,6,\"open\nquote\"' else '11,6,a\n12,7,b' end "
        "where path like 'open%'"
    )
    replayed = Lander(people.spark, people.feed, people.ops_schema).replay()
    assert (replayed.replayed, replayed.waiting) == (1, outcome.broken - 1)
    assert ("11", "6", "open\nquote") in _landed(people)["open.csv"]


def test_skipped_lines_footer_comments_and_an_encoding(make_feed: MakeFeed) -> None:
    """R1.1: the lines that options name are no records; a file that lacks them is set aside."""
    options = {"skip_lines": 2, "footer": 1, "comment": "#", "encoding": "windows-1252", "delimiter": ";"}
    people = make_feed(COLUMNS, pattern="*", options=options)
    text = 'Report "2025\n\n# made by hand\nid;n;note\n1;2;Jörg\n#"x\n3;4;"two\nlines"\n\nTotal;6\n\n'
    people.write("a.csv", text.encode("cp1252"))
    people.write("mac.csv.gz", gzip.compress(text.replace("\n", "\r").encode("cp1252")))
    people.write("controls.csv", b"x\ny\nid;n;note\n5;6;a\x8db\n7;8;\xe9\nend\n")
    people.write("no records.csv", "x\ny\nid;n;note\nend\n")
    people.write("no footer.csv", "x\ny\nid;n;note\n\n")
    people.write("no header.csv", "x\ny\n#z\n")
    people.write("utf-8.csv", text)
    assert people.land().rejected == {
        "no footer.csv": "it has fewer than 1 lines that may be its `footer`",
        "no header.csv": "it has no header: all its lines are blank, comments or skipped",
        "utf-8.csv": "it is UTF-8, not CP1252 (option `encoding`)",
    }
    both = [("1", "2", "Jörg"), ("3", "4", "two\nlines")]
    assert _landed(people) == {
        "a.csv": both,
        "mac.csv.gz": [both[0], ("3", "4", "two\rlines")],
        "controls.csv": [("5;6;a\ufffdb", ILLEGIBLE), ("7", "8", "é")],
    }


def test_control_characters_and_lines_as_records(make_feed: MakeFeed) -> None:
    """R1.1: with `multi_line: false` each line is a record; bytes without a letter in Latin-1 are found."""
    people = make_feed(COLUMNS, options={"multi_line": False, "header": False, "encoding": "latin-1"})
    people.write("a.csv", b'1,2,"x\n3,4,y\n5,6,\x93a\x94\n7,8,\xe9\n')
    people.write("header.csv", "ID,N,Note\n1,2,3\n")
    (reason,) = people.land().rejected.values()
    assert reason == "its first line is a header, and the feed has the option `header: false`"
    broken = [('1,2,"x', OPEN), ("5,6,\x93a\x94", CONTROLS)]
    assert _landed(people) == {"a.csv": [broken[0], ("3", "4", "y"), broken[1], ("7", "8", "é")]}


def test_files_too_large_for_one_text(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: their records are read by RFC 4180 alone; in doubt the file is set aside, and the others land."""
    monkeypatch.setattr(contents, "SMALL_BYTES", 0)
    monkeypatch.setattr(contents, "WHOLE_BYTES", 0)
    monkeypatch.setattr(csv_header, "WHOLE_BYTES", 0)
    people = make_feed(COLUMNS)
    people.write("good.csv", 'id,n,note\n1,2,"a\nb"\n3,4,"c ""d"""\n')
    people.write("lines.csv", 'id,n,note\n5,6,7" pipe\n7,8,x\n')
    people.write("odd.csv", OPEN_FILE)
    people.write("even.csv", OPEN_FILE + '15,1,"x"\n16,2,"y')
    outcome = people.land()
    assert outcome.rejected["odd.csv"].startswith(
        "it has more than 0 bytes, and a quote in it is not closed: "
    )
    assert outcome.rejected["even.csv"].startswith(
        "broken: a quote is not closed, or is followed by other text"
    )
    assert _landed(people) == {
        "good.csv": [("1", "2", "a\nb"), ("3", "4", 'c "d"')],
        "lines.csv": [("5", "6", '7" pipe'), ("7", "8", "x")],
    }


def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take all files for large ones, of which few bytes are seen before they are read."""
    monkeypatch.setattr(contents, "SMALL_BYTES", 0)
    monkeypatch.setattr(streams, "HEAD_BYTES", 24)


START = "id,n,note\n0,0,x\n0,0,y\n"
TWO = [("0", "0", "x"), ("0", "0", "y")]


def test_open_quotes_behind_the_first_bytes(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: reading finds the first one, the batch is examined again, and no limit counts half records."""
    _large(monkeypatch)
    limits = {"max_repeated_share": 0, "max_rejected_records": 1}
    people = make_feed(COLUMNS, pattern="*", key=["note"], **limits)
    people.write("lines.csv", f'{START}1,2,"a ""b"""\n2,3,5" pipe\n')
    people.write("spans.csv", f'{START}1,2,"c\nd"\n2,2,"d\nd"\n')
    people.write("packed.csv.gz", gzip.compress(f'{START}3,4,"e\nf"\n'.encode()))
    long = "".join(f"{number},{number * 7919 % 10007},a{number}\n" for number in range(9_000))
    people.write("cut.csv.gz", gzip.compress(f'{START}3,4,"e\nf"\n{long}'.encode())[:-20])
    people.write("odd.csv", f'{START}4,5,"open\n5,6,z\n')
    people.write("twice.csv", f"{START}id,n,note\n")
    outcome = people.land()
    assert list(outcome.rejected) == ["cut.csv.gz"]
    assert _landed(people) == {
        "lines.csv": [*TWO, ("1", "2", 'a "b"'), ("2", "3", '5" pipe')],
        "spans.csv": [*TWO, ("1", "2", "c\nd"), ("2", "2", "d\nd")],
        "packed.csv.gz": [*TWO, ("3", "4", "e\nf")],
        "odd.csv": [*TWO, ('4,5,"open', OPEN), ("5", "6", "z")],
        "twice.csv": [*TWO, ("id", "n", "note")],
    }
    assert (outcome.files, outcome.rows, outcome.broken) == (5, 18, 1)
    assert (people.land().files, people.land().rows) == (0, 0)


def test_open_quotes_of_a_killed_batch(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.3: the run that finishes a batch looks at the quotes of its files first."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    _large(monkeypatch)
    people = make_feed(COLUMNS)
    people.write("good.csv", f'{START}1,2,"c\nd"\n')
    with monkeypatch.context() as patch:
        patch.setattr(BronzeTable, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            people.land()
    outcome = people.land()
    assert (outcome.resumed, outcome.rows) == (1, 3)
    assert _landed(people) == {"good.csv": [*TWO, ("1", "2", "c\nd")]}


def test_open_quotes_of_changed_and_packed_files(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.4: what was accepted at the first look stays: a new column, a member of an archive, other files."""
    _large(monkeypatch)
    people = make_feed(COLUMNS, pattern="*", on_change="reland", contract={"new_column": "evolve"})
    people.write("changed.csv", START)
    people.land()
    people.write("changed.csv", 'id,n,note,more\n0,0,x,1\n0,0,y,2\n1,2,"c\nd",3\n')
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in.csv", f'{START}3,4,"e\nf"\n')
    people.write("packed.zip", packed.getvalue())
    people.write("lines.csv", START)
    outcome = people.land()
    assert (outcome.files, outcome.rows, outcome.evolved) == (3, 8, ["more"])
    found = _landed(people)
    assert sorted(found["changed.csv"]) == sorted([*TWO, *TWO, ("1", "2", "c\nd")])
    assert found["packed.zip!/in.csv"] == [*TWO, ("3", "4", "e\nf")]
    assert found["lines.csv"] == TWO
    assert people.rows("more")[:3] == [("1",), ("2",), ("3",)]
    states = "select path, state from {}.ingested_files where batch_id > 1 and path = 'changed.csv'"
    rows = people.spark.sql(states.format(people.ops_schema)).collect()
    assert sorted(state for _, state in rows) == ["abandoned", "landed", "planned", "planned"]


def test_a_file_set_aside_for_its_quotes_is_looked_at_closely(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.4: later landings neither plan it nor write a row about it, as long as it is the same."""
    _large(monkeypatch)
    for place in (contents, csv_header):
        monkeypatch.setattr(place, "WHOLE_BYTES", 70)
    people = make_feed(COLUMNS)
    people.write("large.csv", f'{START}1,2,"open\n{"2,3,z" * 20}\n')
    people.write("small.csv", f'{START}1,2,"e\nf"\n')
    (reason,) = people.land().rejected.values()
    assert reason.startswith("it has more than 70 bytes, and a quote in it is not closed")
    assert _landed(people) == {"small.csv": [*TWO, ("1", "2", "e\nf")]}
    noted = people.spark.table(f"{people.ops_schema}.ingested_files").count()
    assert people.land().rejected == {"large.csv": reason}
    assert people.spark.table(f"{people.ops_schema}.ingested_files").count() == noted


DIALECTS: list[tuple[bytes, dict[str, Any]]] = [
    (b'a ,"', {}),
    (b'a,"\\', {"escape": "\\"}),
    (b"a;' ", {"quote": "'", "delimiter": ";"}),
    (b'a,"', {"null_value": "a"}),
    (b'a,"\0', {}),
    (b'a,"\xe9', {}),
]


def test_reading_finds_each_open_quote(spark: SparkSession, make_feed: MakeFeed) -> None:
    """R1.1: of all short lines, those with an open quote are found by what the parser made of them."""
    names = list(COLUMNS)[:2]
    for signs, options in DIALECTS:
        feed = make_feed(COLUMNS, options=options).feed
        reader, checks = Csv(spark, feed), TextChecks.of(feed.external)
        assert checks
        lines = [bytes(line) for size in range(1, 7) for line in itertools.product(signs, repeat=size)]
        rows = spark.createDataFrame([(line,) for line in lines], "line binary").coalesce(1)
        rows = rows.selectExpr("cast(line as string) as _line", "is_valid_utf8(line) as _is_legible")
        for closed in (checks.grammar.closed_lines(), checks.grammar.closed_record()):
            has_quote = f.contains("_line", f.lit(checks.grammar.quote))
            is_open = has_quote & ~f.rlike("_line", f.lit(closed))
            differ = reader.with_fields(names, rows).where(is_open != reader.quote_is_open(names, closed))
            assert differ.select("_line").collect() == []


GRAMMARS = [Grammar(), Grammar(escape="\\"), Grammar(comment="#"), Grammar(spans=False)]
VALID = spanning_rows().map(lambda rows: written([["id", "name"], *rows]))
DAMAGED = st.text(st.sampled_from('ab",\n\r#\\é \ufeff🙂'), max_size=40)
TEXTS = [*drawn(VALID, 100), *drawn(DAMAGED, 200)]


def _split(grammar: Grammar, text: str) -> list[str]:
    return [found[1] for found in re.finditer(in_python(grammar.records()), text)]


def test_the_records_of_a_text() -> None:
    """R1.1: those of Python's `csv` if the text is valid; all characters of any text are in its records."""
    for text in TEXTS[:100]:
        read = [next(csv.reader(io.StringIO(one, newline=""))) for one in _split(Grammar(), text) if one]
        assert read == list(csv.reader(io.StringIO(text, newline=""))), text
    for text in TEXTS:
        for grammar in GRAMMARS:
            found = [*re.finditer(in_python(grammar.records()), text)]
            records = [one[1] for one in found]
            whole = "".join(text[one.start(1) : one.end()] for one in found)
            assert whole == text.removeprefix("\ufeff"), text
            first = grammar.first_record(text)
            assert first is None or grammar.comment or first in (records[0], f"\ufeff{records[0]}"), text


def test_spark_splits_records_the_same_way(spark: SparkSession) -> None:
    """R1.1: Java's expressions find what Python's find; texts whose lines are closed are their lines."""
    texts = spark.createDataFrame([(text,) for text in TEXTS], "text string").coalesce(1)
    kinds = [f.regexp_extract_all("text", f.lit(grammar.records()), f.lit(1)) for grammar in GRAMMARS]
    closed = [f.rlike("text", f.lit(grammar.closed_lines())) for grammar in GRAMMARS[:2]]
    for row in texts.select("text", *kinds, *closed).collect():
        text, records, are_closed = row[0], row[1:5], row[5:]
        for grammar, found in zip(GRAMMARS, records, strict=True):
            assert found == _split(grammar, text), (grammar, text)
        for found, is_closed in zip(records, are_closed, strict=False):
            if is_closed:
                assert not any("\n" in record or "\r" in record for record in found), text


def test_spark_parses_a_closed_record_to_its_end(spark: SparkSession) -> None:
    """R1.1: a field after any record with closed quotes is found again, and the record's line breaks."""
    schema = ", ".join(f"c{number} string" for number in range(50))
    texts = spark.createDataFrame([(text,) for text in TEXTS], "text string").coalesce(1)
    for grammar in GRAMMARS[:2]:
        records = texts.select(f.explode(f.regexp_extract_all("text", f.lit(grammar.records()), f.lit(1))))
        closed = records.where(f.rlike("col", f.lit(grammar.closed_record())) & (f.trim("col") != ""))
        longer = f.concat("col", f.lit(",the end"))
        fields = f.from_csv(longer, schema, {"escape": grammar.escape})
        for record, row in closed.select("col", fields).collect():
            values = list(row)
            assert "the end" in values, record
            breaks = sum((value or "").count("\n") for value in values)
            assert breaks == record.count("\n"), record
