"""Archives, workbooks, large arrays and dated folders land as plain files do; other files are named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.coverage import claims
from python_ingest.feeds.external_excel import ExcelOptions
from python_ingest.feeds.paths import file_of, matcher
from python_ingest.files import json_arrays, unpacking
from python_ingest.files.archives import Budget
from python_ingest.files.json_arrays import elements, split_array
from python_ingest.files.workbooks import convert
from python_ingest.ops.ingested_files import IngestedFiles
from tests.conftest import FeedFolder, MakeFeed
from tidemark.base.errors import PackedError

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]

ONE = "id,name\n1,Ada\n"
OFFICE = "http://schemas.openxmlformats.org"
RELATIONS = f"{OFFICE}/officeDocument/2006/relationships"


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def cell(value: Any, place: str) -> str:
    """Return a cell of a sheet: text, number, boolean, error, or (style, number) for a time."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f'<c r="{place}" s="{value[0]}"><v>{value[1]}</v></c>'
    if isinstance(value, str) and not value.startswith("#"):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    kind = "b" if isinstance(value, bool) else "e" if isinstance(value, str) else "n"
    return f'<c r="{place}" t="{kind}"><v>{int(value) if kind == "b" else value}</v></c>'


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Return an .xlsx file; the styles 1, 2, 3 and 4 are a date, a time stamp, a time and a duration."""
    spreadsheet = f'xmlns="{OFFICE}/spreadsheetml/2006/main"'
    names = "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1))
    targets = "".join(
        f'<Relationship Id="r{i}" Type="{RELATIONS}/worksheet" Target="worksheets/{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 21, 46))
    members = {
        "_rels/.rels": f'<Relationships xmlns="{OFFICE}/package/2006/relationships"><Relationship Id="r" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {spreadsheet} xmlns:r="{RELATIONS}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{OFFICE}/package/2006/relationships">{targets}'
        f'<Relationship Id="s" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f"<styleSheet {spreadsheet}><cellXfs>{styles}</cellXfs></styleSheet>",
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = [
            f'<row r="{i}">{"".join(cell(v, f"{chr(64 + c)}{i}") for c, v in enumerate(row, 1))}</row>'
            for i, row in enumerate(rows, 1)
        ]
        members[f"xl/worksheets/{number}.xml"] = (
            f"<worksheet {spreadsheet}><sheetData>{''.join(lines)}</sheetData></worksheet>"
        )
    return zipped(members)


PEOPLE = [["id", "name"], [1, "Ada"], [2, 'a\nb, "q"']]


def converted(tmp_path: Path, content: bytes, width: int = 0, **options: Any) -> str:
    """Return a workbook as CSV, or why it cannot be read."""
    source, target = tmp_path / "book", tmp_path / "csv"
    source.write_bytes(content)
    try:
        convert(source, target, ExcelOptions(**options), Budget(10**6), width)
    except PackedError as error:
        return str(error)
    return target.read_bytes().decode()


def test_cells_become_text(tmp_path: Path) -> None:
    """R1.2: numbers in full, ISO times, alike in a column; empty rows and columns are left out."""
    rows = [
        ["Report", None],
        [],
        ["id", None, "at \n day", "day", "spent", "took", "ok", "note"],
        [5, None, (2, 45000.5), (1, 45000), (3, 0.5), (4, 1.75), True, " x "],
        [0.1, None, (2, 45001), None, None, None, False, "#N/A"],
        [],
        [12345678901234567890, None, None, None, None, None, None, "007"],
        [1.5e-7, None, None, None, None, None, None, 'a&#13;\nb, "q"'],
        ["Total", 7],
        [],
    ]
    assert converted(tmp_path, workbook({"Data": rows, "Sheet2": []}), skip_lines=1, footer=1) == (
        "id,at day,day,spent,took,ok,note\n"
        "5,2023-03-15T12:00:00,2023-03-15,12:00:00,42:00:00,true, x \n"
        "0.1,2023-03-16T00:00:00,,,,false,\n"
        "12345678901234567000,,,,,,007\n"
        '0.00000015,,,,,,"a\r\nb, ""q"""\n'
    )
    assert converted(tmp_path, workbook({"A": [[1, None, 2]]}), header=False) == "1,,2\n"
    assert converted(tmp_path, workbook({"A": [[1]]}), 3, header=False) == "1,,\n"


def test_a_workbook_that_cannot_land_says_why(tmp_path: Path) -> None:
    """R1.4: the message lists the sheets; invalid, damaged and too large workbooks get different messages."""
    two = workbook({"Jan": PEOPLE, "Feb": PEOPLE, "Notes": []})
    several = "it has several sheets: set the option `sheet` to one of 'Jan', 'Feb', 'Notes'"
    assert converted(tmp_path, two) == several
    assert converted(tmp_path, two, sheet="Feb").startswith("id,name\n1,Ada\n")
    assert converted(tmp_path, two, sheet="feb").startswith("it has no sheet 'feb' (option `sheet`)")
    assert converted(tmp_path, workbook({"A": []})) == "all its sheets are empty"
    assert converted(tmp_path, b"id,name\n") == (
        "it is not an Excel workbook: if it is text, set `file_format: csv`"
    )
    assert converted(tmp_path, two[:400]).startswith("it is damaged or encrypted: save it again")
    large = workbook({"A": [["x" * 2_000_000]]})
    assert converted(tmp_path, large) == "it unpacks to more than 1.0 MB (`max_bytes`)"


def test_an_array_is_divided_without_changing_its_elements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.2: strings with brackets and escapes, numbers and blanks at any boundary of what is read."""
    path = tmp_path / "a.json"
    values = [{"a": 'x],[{"}\\" \u2028 é 😀', "b": [1.50, {"c": None}]}, {}, {"n": 1e300}, {"d": "\\"}] * 5
    texts = [json.dumps(value, ensure_ascii=number % 2 == 0) for number, value in enumerate(values)]
    monkeypatch.setattr(json_arrays, "PART", 100)
    for chunk in (1, 2, 3, 7, 1000):
        monkeypatch.setattr(json_arrays, "CHUNK", chunk)
        for written in ("[" + ",".join(texts) + "]", "\ufeff [\n  " + " ,\r\n".join(texts) + "\n]\n"):
            path.write_text(written, encoding="utf-8", newline="")
            assert list(elements(path)) == texts
            assert [value for part in split_array(path) for value in json.loads(part)] == values
    for written, reason in {
        '{"a": 1}': "not an array",
        '[{"a": 1} {"a": 2}]': "neither `,` nor `]` after element 1",
        '[{"a": 1}, {"a": ': "element 2 of the array is no JSON",
        '[{"a": 1}]]': "text after the end",
        "[": "element 1 of the array is no JSON",
    }.items():
        path.write_text(written)
        with pytest.raises(PackedError, match=reason):
            list(elements(path))


def test_feeds_that_share_a_folder_claim_files() -> None:
    """R1.1: the other location may be the same, above or below; a member belongs to its archive."""
    others = [("s3a://b/raw/x", ["*.json"]), ("s3a://b/raw", ["x/*.xml"]), ("s3a://b/raw/x/sub", ["a*"])]
    found = claims("s3a://b/raw/x/", [*others, ("s3a://b/raw/xy", ["*"])])
    assert [claim.above for claim in found] == ["", "x/", ""]
    assert claims("data/x", [("file:" + str(Path.cwd()) + "/data", ["*"])])[0].above == "x/"
    assert file_of("a.zip/b.Zip!/c.zip!/d.csv") == "a.zip/b.Zip"
    assert file_of("Wow!/a.csv") == "Wow!/a.csv"
    assert matcher(["*.tmp", "old/**/*"]).fullmatch("a/b.tmp")
    assert not matcher([]).fullmatch("")


PACKED = {
    "a.csv": ONE,
    "b_gz.csv.gz": gzip.compress(b"id,name\n2,Bob\n"),
    "b_bz2.csv.bz2": bz2.compress(b"id,name\n3,Cy\n"),
    "b_zst.csv.zst": pyarrow.compress(b"id,name\n0,Zoe\n", codec="zstd", asbytes=True),
    "sub/b_xz.csv.xz": lzma.compress(b"name,id\nDi,4\n") + lzma.compress(b"Eve,5\n"),
    "b.csv.zip": zipped({"b.csv": "id,name\n6,Flo\n"}),
    "many +%41.zip": zipped(
        {
            "m/a b+c:%41.csv": "id,name\n7,Gus\n",
            "m/ü.csv.gz": gzip.compress(b"name,id\nHal,8\n9\n"),
            "__MACOSX/m/._a.csv": "x",
            ".hidden": "x",
            "m/": "",
            "README.txt": "x",
            "notes.pdf": "x",
        }
    ),
    "not.csv.zip": b"id,name\n",
    "cut.csv.zip": zipped({"a.csv": ONE})[:-30],
    "out.zip": zipped({"../a.csv": ONE}),
    "nested.zip": zipped({"a.zip": zipped({"a.csv": ONE})}),
    "other.zip": zipped({"a.csv": ONE, "page.html": "<html>"}),
    "empty.zip": zipped({}),
    "bomb.zip": zipped({"a.csv": b"\0" * 2_000_000}),
    "cut.csv.xz": lzma.compress(b"id,name\n" * 1000)[:-20],
    "seven.csv": b"7z\xbc\xaf\x27\x1c\0\0",
    "tape.csv": b"a.csv" + b"\0" * 252 + b"ustar\x0000",
    "d.txt": "x",
    "C.tsv": "x",
    "README.md": "x",
    "e.tmp": "x",
    "old/f.csv": "x",
}
SET_ASIDE = {
    "not.csv.zip": "is not a complete zip archive",
    "cut.csv.zip": "is not a complete zip archive",
    "out.zip": "its member ../a.csv leads to a place outside the archive",
    "nested.zip": "its member a.zip is an archive in an archive",
    "other.zip": "its member page.html: not a file of this feed: its header has none",
    "empty.zip": "it has no member that lands",
    "bomb.zip": "it unpacks to more than 1.0 MB",
    "cut.csv.xz": "it is truncated or damaged",
    "seven.csv": "it is a 7z archive: unpack it with `7z x FILE`",
    "tape.csv": "it is a tar archive: unpack it with `tar -xf FILE`",
}


def killed(self: object, *_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_packed_files_land_once_and_the_others_are_named(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1, R1.5: each member is read as a file; the archive lands once, also after a kill."""
    excluded = ["*.tmp", "old/*", "notes.pdf"]
    feed = make_feed(
        pattern="*.{csv,gz,bz2,zst,xz,zip}", exclude=excluded, max_bytes="1 MB", on_lost_rows="land_again"
    )
    for name, content in PACKED.items():
        feed.write(name, content)
    for owner, step in ((BronzeTable, "append"), (IngestedFiles, "confirm")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, killed)
            with pytest.raises(KeyboardInterrupt):
                feed.land()
    landed = feed.land()
    assert (landed.resumed, landed.known) == (1, 7)
    assert {path: reason for path, reason in landed.rejected.items() if SET_ASIDE[path] not in reason} == {}
    assert (landed.left_out.files, landed.left_out.paths) == (2, ("C.tsv", "d.txt"))
    assert feed.rows("id", "name", "_source_file", "_corrupt_record") == [
        ("0", "Zoe", "b_zst.csv.zst", None),
        ("1", "Ada", "a.csv", None),
        ("2", "Bob", "b_gz.csv.gz", None),
        ("3", "Cy", "b_bz2.csv.bz2", None),
        ("4", "Di", "sub/b_xz.csv.xz", None),
        ("5", "Eve", "sub/b_xz.csv.xz", None),
        ("6", "Flo", "b.csv.zip!/b.csv", None),
        ("7", "Gus", "many +%41.zip!/m/a b+c:%41.csv", None),
        ("8", "Hal", "many +%41.zip!/m/ü.csv.gz", None),
        (None, "9", "many +%41.zip!/m/ü.csv.gz", "9"),
    ]
    feed.spark.sql(f"delete from {feed.feed.table} where id in ('6', '7')")
    again = feed.land()
    assert again.settled
    assert (again.settled.decision, len(feed.rows("id")), again.known) == ("landed_again", 10, 7)


def named(made: FeedFolder, name: str) -> FeedFolder:
    """Return a feed with a name, a table and a folder of its own."""
    folder = made.folder / name
    folder.mkdir()
    external = made.feed.external.model_copy(update={"location": str(folder)})
    feed = made.feed.model_copy(update={"name": name, "identifier": name, "external": external})
    return FeedFolder(made.spark, feed, folder, made.ops_schema)


def test_workbooks_dated_folders_and_large_arrays_land(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.2: columns from folder names; the rows have the path and the time of the listed file."""
    books = named(make_feed(file_format="excel", options={"null_value": ["", "NA"]}), "books")
    books.write("a.xlsx", workbook({"Data": [*PEOPLE, [None, "NA"], ["x", 3.5]], "Empty": []}))
    books.write("b.zip", zipped({"in.XLSX": workbook({"Data": [["NAME", "ID"], ["Cy", 3]]}), "c.xls": "x"}))
    books.write("~$a.xlsx", "x")
    books.write("d.xlsx", zipped({"a": ""}))
    books.write("e.xlsx.xz", lzma.compress(workbook({"Data": [["name", "id"], ["Di", 4]]})))
    landed = books.land()
    assert landed.rejected == {
        "b.zip": "cannot be read: its member c.xls: it is not an Excel workbook: if it is text, set "
        "`file_format: csv`",
        "d.xlsx": landed.rejected["d.xlsx"],
    }
    books.write("b.zip", zipped({"in.XLSX": workbook({"Data": [["NAME", "ID"], ["Cy", 3]]})}))
    assert books.land().files == 1
    assert books.rows("_source_file", "id", "name") == [
        ("a.xlsx", "1", "Ada"),
        ("a.xlsx", "2", 'a\nb, "q"'),
        ("a.xlsx", "x", "3.5"),
        ("a.xlsx", None, None),
        ("b.zip!/in.XLSX", "3", "Cy"),
        ("e.xlsx.xz", "4", "Di"),
    ]

    partitions = [{"name": "year", "data_type": "string"}, {"name": "city", "data_type": "string"}]
    dated = named(make_feed(partitions=partitions, contract={"missing_column": "evolve"}), "dated")
    dated.write("year=2025/city=S%C3%A3o+P a%2Fb/a.csv", ONE)
    dated.write("year=2024/city=__HIVE_DEFAULT_PARTITION__/a.csv.xz", lzma.compress(ONE.encode()))
    dated.write("myear=1/year=2023/a.zip", zipped({"city=Rom/a.csv": ONE}))
    dated.write("year=2022/city=x/b.csv", "id,name,Year\n1,Ada,1\n")
    landed = dated.land()
    assert list(landed.rejected) == ["year=2022/city=x/b.csv"]
    assert "its header has the column Year" in landed.rejected["year=2022/city=x/b.csv"]
    assert landed.missing == {"city": ["myear=1/year=2023/a.zip"]}
    assert dated.rows("year", "city", "id") == [
        ("2023", "Rom", "1"),
        ("2024", None, "1"),
        ("2025", "São+P a/b", "1"),
    ]

    monkeypatch.setattr(unpacking, "WHOLE_BYTES", 10)
    monkeypatch.setattr(unpacking, "COMPRESSED_BYTES", 10)
    monkeypatch.setattr(json_arrays, "PART", 20)
    types = {"id": "bigint", "name": "string"}
    arrays = named(
        make_feed(types, "json", options={"whole_file": True}, partitions=partitions[:1]), "arrays"
    )
    text = '[\n{"id": 1, "name": "]A\\u00e4"},\n{"id": 2,\n "year": 7},\n{"id": 3}\n]\n'
    path = arrays.write("year=1/a.json", text)
    arrays.write("year=2/b.json.gz", gzip.compress(text.encode()))
    arrays.write("year=3/c.json", '{"id": 9, "name": "alone"}')
    landed = arrays.land()
    assert landed.rejected == {
        "year=3/c.json": "cannot be read: it is larger than 64 MB and not an array: write it as JSON lines"
    }
    modified = "unix_millis(_source_modified_at)"
    at = path.stat().st_mtime_ns // 10**6
    a_rows = [row for row in arrays.rows("id", "name", "year", "_rescued_data", modified) if row[2] == "1"]
    assert a_rows == [(1, "]Aä", "1", None, at), (2, None, "1", '{"year":7}', at), (3, None, "1", None, at)]
    assert len(arrays.rows("id")) == 6
    left = Path(os.environ["TIDEMARK_LAKE"], "unpacked")
    assert [path for path in left.rglob("*") if path.is_file()] == []
