"""`tidemark add` reads sample files of any kind, or says in a sentence why not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.feeds.declarations import feeds_of
from python_ingest.feeds.paths import regex_of
from tests.conftest import FeedFolder
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.choices import Choices, names_in
from tidemark.scaffold.reading.encodings import decoded
from tidemark.scaffold.reading.folder import folder_of, pattern_of
from tidemark.scaffold.reading.json_sample import read_json
from tidemark.scaffold.reading.names import column_names, readable
from tidemark.scaffold.reading.opening import sample_files
from tidemark.scaffold.reading.reading import Reading
from tidemark.scaffold.reading.texts import FileText
from tidemark.scaffold.reading.wrapped_json import no_records
from tidemark.scaffold.sampling import Sample, sample_of

pytestmark = [pytest.mark.R1]

NO_SPARK: Any = None


def _sample(tmp_path: Path, files: dict[str, str | bytes], choices: Choices | None = None) -> Sample:
    """Return the sample of files in a folder of their own."""
    folder = tmp_path / f"feed {len(list(tmp_path.iterdir()))}"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    sample = sample_of(NO_SPARK, folder_of(folder).files, choices)
    assert list(sample.everything()) == sample.records
    return sample


def _csv(tmp_path: Path, content: str | bytes, **choices: Any) -> Sample:
    return _sample(tmp_path, {"a.csv": content}, Choices(**choices).checked())


def _refusal(tmp_path: Path, content: str | bytes, **choices: Any) -> str:
    with pytest.raises(TidemarkError) as caught:
        _csv(tmp_path, content, **choices)
    return str(caught.value)


def _json(tmp_path: Path, content: str, name: str = "a.json") -> Reading:
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    files = sample_files([path], 1)
    return read_json(files, files)


def _values(sample: Sample) -> list[tuple[Any, ...]]:
    return [tuple(record.values()) for record in sample.records]


def test_encodings_are_found_or_asked_for(tmp_path: Path) -> None:
    """R1.2: what lands is text of the encoding; where bytes fit several, a value is shown in each."""
    texts = {
        "windows-1251": "id,city\n1,Москва\n2,Казань\n",
        "koi8-r": "id,city\n1,Москва\n2,Казань\n",
        "windows-1252": "id,city\n1,Besançon\n2,Nîmes\n3,Orléans\n4,Hélène\n",
        "windows-1250": "id,city\n1,Łódź\n2,Kraków\n",
        "windows-1253": "id,city\n1,Αθήνα\n2,Θεσσαλονίκη\n",
        "shift_jis": "id,city\n1,東京都\n2,おおさか\n",
        "gb18030": "数量,名称\n1,北京市\n2,上海市\n",
        "euc-kr": "id,city\n1,서울특별시\n2,부산광역시\n",
    }
    for encoding, text in texts.items():
        sample = _csv(tmp_path, text.encode(encoding))
        assert sample.options == {"encoding": encoding}
        assert [",".join(row) for row in _values(sample)] == text.splitlines()[1:]
        assert sample.notes[0][0] == "encoding"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert _values(_csv(tmp_path, "id,city\n1,Zoë\n".encode(encoding))) == [("1", "Zoë")]
    assert _csv(tmp_path, "id,c\n1,Zoë\n".encode("utf-16-le")).options == {"encoding": "utf-16-le"}

    unclear = "id,name\n1,Muñoz\n".encode("cp1252")
    assert "'Muñoz' in windows-1252, 'Muńoz' in windows-1250" in _refusal(tmp_path, unclear)
    assert _values(_csv(tmp_path, unclear, encoding="latin-1")) == [("1", "Muñoz")]
    assert "unknown to Python or Java" in _refusal(tmp_path, unclear, encoding="klingon")
    assert "is not utf-8" in _refusal(tmp_path, unclear, encoding="utf-8")


def test_a_few_lines_that_are_not_utf_8(tmp_path: Path) -> None:
    """R1.4: the file stays UTF-8; the output says that landing rejects these lines."""
    sample = _csv(tmp_path, "id,city\n1,Zoë\n2,Köln\n".encode() + b"3,caf\xe9\n")
    assert _values(sample) == [("1", "Zoë"), ("2", "Köln")]
    assert ("encoding", "utf-8 (1 of its lines are not, and will be rejected)") in [
        (event, words.partition(";")[0]) for event, words in sample.notes
    ]


def test_files_that_differ_are_refused_by_name(tmp_path: Path) -> None:
    """R1.2: two delimiters, two encodings, titles in some files only."""
    cases = {
        "`,` in a.csv, `;` in b.csv": ("id,v\n1,a\n", "id;v\n3;c\n"),
        "utf-8 in a.csv, windows-1251 in b.csv": (
            "id,v\n1,Zoë\n",
            "id,v\n1,Москва\n2,Казань\n".encode("cp1251"),
        ),
        "a.csv has 0 lines before the header, b.csv has 1": ("id,v\n1,a\n", "A report\nid,v\n1,a\n"),
        "a.csv has 1 line after the last record, b.csv has 0": ("id,v\n1,5\nTotal,5\n", "id,v\n1,5\n"),
    }
    for words, (one, two) in cases.items():
        with pytest.raises(TidemarkError, match=re.escape(words)):
            _sample(tmp_path, {"a.csv": one, "b.csv": two})
    sample = _sample(tmp_path, {"a.csv": "id,v\n1,a\n", "b.csv": "v,ID,w\nb,2,x\n", "c.csv": "id,w\n3,y\n"})
    assert _values(sample) == [("1", "a"), ("2", "b")]
    assert ("left out", "c.csv: its header lacks v") in sample.notes


def test_dialects(tmp_path: Path) -> None:
    """R1.2: delimiters, quotes, comments, titles, totals, line ends; each with the options of the feed."""
    cases: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
        "id;amount\n1;2,5\n2;3,5\n": ({"delimiter": ";"}, [("1", "2,5"), ("2", "3,5")]),
        "id\tname\n1\ta,b\n": ({"delimiter": "\t"}, [("1", "a,b")]),
        "id\x01name\n1\x01x\n": ({"delimiter": "\x01"}, [("1", "x")]),
        "name\nSmith\nDoe\n": ({}, [("Smith",), ("Doe",)]),
        'id,t\n1,"say \\"hi\\", ok"\n': ({"escape": "\\"}, [("1", 'say "hi", ok')]),
        'id,t\n1,"two\nlines"\n2,5" pipe\n': ({}, [("1", "two\nlines"), ("2", '5" pipe')]),
        'id,t\n1,"open\n2,b\n3,c\n': ({}, [("2", "b"), ("3", "c")]),
        'id,t\n1,"a"b\n2,c\n': ({}, [("1", '"a"b'), ("2", "c")]),
        "# by x\nid,name\n1,a\n# mid\n2,b\n": ({"comment": "#"}, [("1", "a"), ("2", "b")]),
        "##v=1\n#CHROM\tPOS\nX\t100\n": ({"delimiter": "\t", "skip_lines": 1}, [("X", "100")]),
        "Report of sales\nRegion: North\n\n\nid,item,amount\n1,pen,5\n": (
            {"skip_lines": 4},
            [("1", "pen", "5")],
        ),
        "Report,,\n,,\nid,item,amount\n1,pen,5\n": ({"skip_lines": 2}, [("1", "pen", "5")]),
        "sep=;\nid;v\n1;a\n": ({"delimiter": ";", "skip_lines": 1}, [("1", "a")]),
        "id,v\n1,5\n2,6\nTotal,11\n": ({"footer": 1}, [("1", "5"), ("2", "6")]),
        "id,v\n1,5\n2,6\n\nGenerated by x\n": ({"footer": 1}, [("1", "5"), ("2", "6")]),
        "id,v\r1,a\r2,b\r": ({}, [("1", "a"), ("2", "b")]),
        "id,v\r\n1,a\r\n": ({}, [("1", "a")]),
        "id,v\n1,a\u2028b\n2,a\x0bb\x85\x0c\x1cb\n": ({}, [("1", "a\u2028b"), ("2", "a\x0bb\x85\x0c\x1cb")]),
        "id,v\n1,a\x00b\n2,c\n": ({}, [("2", "c")]),
        "id,v\n1,a,x\n2,c\n": ({}, [("2", "c")]),
        f"id,doc\n1,{'x' * 140_000}\n2,y\n": ({}, [("1", "x" * 140_000), ("2", "y")]),
    }
    for content, (options, values) in cases.items():
        sample = _csv(tmp_path, content)
        assert (sample.options, _values(sample)) == (options, values), content[:50]
        assert len(sample.notes) >= len(options), content[:50]
    assert _csv(tmp_path, "id, day \n1, 2024-01-01\n").padded == {"day"}


def test_a_header_is_found_or_asked_for(tmp_path: Path) -> None:
    """R1.2: the following records show whether a line has names or values; options override this."""
    headers = {
        "country,2019,2020\nFR,1,2\nDE,3,4\n": ["country", "2019", "2020"],
        "Province,Lat,1/22/20,1/23/20\n,1.5,0,1\nX,2.5,1,2\n": ["Province", "Lat", "1/22/20", "1/23/20"],
        "given,family\nBob,Smith\nAnn,Jones\nJim,Bean\n": ["given", "family"],
        "id,n,y\n1,5,true\n": ["id", "n", "y"],
        'id,"a\nb"\n1,2\n': ["id", "a\nb"],
    }
    for content, names in headers.items():
        assert list(_csv(tmp_path, content).types) == names
    for content in ("paris,blue,north\nlyon,red,south\nnice,green,east\n", "1,2,3\n4,5,6\n", "a1,5\nb2,6\n"):
        assert "seems to have no header: its first record is" in _refusal(tmp_path, content)
    cities = "paris,blue\nlyon,red\n"
    sample = _csv(tmp_path, cities, columns=names_in("city, colour"))
    assert sample.options == {"header": False}
    assert sample.records == [{"city": "paris", "colour": "blue"}, {"city": "lyon", "colour": "red"}]
    assert list(_csv(tmp_path, cities, header=False).types) == ["column_1", "column_2"]
    assert _values(_csv(tmp_path, cities, header=True)) == [("lyon", "red")]
    assert "names 1 columns, but the records have 2" in _refusal(tmp_path, cities, columns=("a",))
    assert "one name twice" in _refusal(tmp_path, cities, columns=("a", "A"))


def test_each_cause_has_its_own_message(tmp_path: Path) -> None:
    """R1.4: what is wrong with the header, and the options that work."""
    cases = {
        "": "a.csv is empty",
        "\n  \n": "a.csv is empty",
        "id,name\n": "a.csv has a header, but no records",
        ",a,b\n0,1,2\n": "no name for column 1.\n.*`--skip-lines 1 --columns column_1,a,b`",
        "a,A\n1,2\n": "the same name twice: 'a', 'A'.\n.*`--skip-lines 1 --columns a,A_2`",
        "a,b\n1,2,3\n4,5,6\n": "the header has 2 fields, but the records have 3.\n.*`--skip-lines 1",
        "a,b,c\n1,2\n3,4\n": "the header has 3 fields, but the records have 2",
        "name\nDoe, J\nRoe, K\n": "1 field, but the records have 2.*\n.*a `--delimiter` that no value has",
        'id,"a\n1,2\n3,4\n': "a quote in the header is not closed",
        "a||b\n1||2\n": r"separates fields by '\|\|'; a delimiter is one character",
        "id   name  n\n1    pen   5\n2    ink   6\n": "columns of a fixed width.*\n.*read_fwf",
        "a b c\n1 2 3\n": "3 words in each line.*\n.*`--delimiter space`",
        "title, x\nid,n\n1,2\n3,4\n": "two records look like names.*\n.*`--skip-lines 1`",
    }
    for content, words in cases.items():
        assert re.search(words, _refusal(tmp_path, content)), content
    way_out = _csv(tmp_path, ",a,b\n0,1,2\n", skip_lines=1, columns=("column_1", "a", "b"))
    assert way_out.records == [{"column_1": "0", "a": "1", "b": "2"}]
    assert way_out.options == {"skip_lines": 1, "header": False}
    assert _values(_csv(tmp_path, "a b c\n1 2 3\n", delimiter="space")) == [("1", "2", "3")]


def test_json_of_any_layout(tmp_path: Path) -> None:
    """R1.2: lines, one object, arrays on one or several lines, of any size."""
    records = [{"id": 1, "n": 1.5}, {"id": 2, "n": 2.5}]
    lines = '{"id":1,"n":1.5}\n{"id":2,"n":2.5}\n'
    for content in (lines, lines.replace("\n", "\r\n"), "\ufeff" + lines):
        reading = _json(tmp_path, content)
        assert (reading.records, reading.options) == (records, {})
    array = f"[\n{lines.strip().replace(chr(10), f',{chr(10)}')}\n]\n"
    for content in (array, array.replace("\n", ""), array.replace(",", ",\n  "), "\ufeff" + array):
        reading = _json(tmp_path, content)
        assert (reading.records, reading.options) == (records, {"whole_file": True})
    single = _json(tmp_path, '{\n"data": [{"a": 1}, {"a": 2}]\n}')
    (message,) = [message for _, message in single.notes if "is one record" in message]
    assert "its field data has the records" in message
    assert message.endswith(""": `mkdir ../a-records && jq -c '."data"[]' a.json > ../a-records/a.jsonl`.""")
    large = _json(
        tmp_path, "[" + ",\n".join(f'{{"id": {n}, "t": "{"x" * 100}"}}' for n in range(20_000)) + "]"
    )
    assert large.more
    assert sum(record["id"] for record in large.more()) == 20_000 * 19_999 // 2


def test_json_that_landing_rejects(tmp_path: Path) -> None:
    """R1.4: such records are not used as samples; fields that differ only in letter case are reported."""
    odd = '{"id": 1, "v": "\\u00e9\\u0000"}\n{"id": 2, "v": "\\ud800"}\n{"id": 3, "v": 1e400}\n'
    odd += '{"id": 4, "v": "ok"}\n'
    deep = '{"id": 5, "v": ' + "[" * 3_000 + "]" * 3_000 + "}\n"
    reading = _json(tmp_path, odd + deep)
    assert [record["id"] for record in reading.records] == [1, 4]
    assert ("broken", "3 of 5 records cannot be read; landing rejects them") in reading.notes
    case = _json(tmp_path, '{"id":1,"userId":"a","userid":"b"}\n{"id":2,"userId":"c"}\n')
    assert case.records == [{"id": 1, "userId": "a"}, {"id": 2, "userId": "c"}]
    assert case.notes == [
        ("rescued", "userid differs from userId in letter case only; stays in `_rescued_data`")
    ]
    refused = {
        '{"a":1}{"a":2}': r"several objects, but not one per line.*\n.*jq -c \. a\.json > \.\./a-records/",
        '{"a":1},\n{"a":2}\n': "several objects, but not one per line",
        '[{"a":1},{"a":': "no JSON objects.*\n.*a.json is not complete JSON",
        '{"a": ': "no complete JSON object",
        "[1,2]\n[3,4]\n": "one array per line",
        "[1, 2]": "no JSON objects.*\n.*array of objects",
        '{"type": "All", "of": [\n'
        + '{"id": 1},\n' * 2**17: r"is one object.*\n.*jq -c '\.\"of\"\[\]' a\.json",
    }
    for content, words in refused.items():
        with pytest.raises(TidemarkError, match=words):
            _json(tmp_path, content)
    (tmp_path / "b.json").write_bytes('[{"a": "Москва"}, {"a": "Казань"}]'.encode("cp1251"))
    files = sample_files([tmp_path / "b.json"], 1)
    with pytest.raises(TidemarkError, match="windows-1251; JSON lands in UTF-8 only"):
        read_json(files, files)


def test_what_to_do_with_an_object_around_the_records() -> None:
    """The command names a list of objects at the top, and never writes the file that it reads."""
    start = """{"meta": {"columns": [{"a": 1}]}, "tags": ["x", "[{"], "it's all": [ {"id": 1},"""
    cases = {
        ("b.jsonl", start): """ && jq -c '."it'"'"'s all"[]' b.jsonl > ../b-records/b.jsonl`""",
        ("b c.json", '{"data": [[1, 2],'): "jq -c '.FIELD[]' 'b c.json' > '../b c-records/b c.jsonl'`",
        ("z.zip/b.json", '{"data": [{"a": 1}'): "unpack it, then `jq -c '.\"data\"[]'`",
        ("b.json.gz", '{"a\\d": [{"a": 1}'): "unpack it, then `jq -c '.FIELD[]'`",
        ("b.json", '{"\\ud800": [{"a": 1}'): "jq -c '.FIELD[]' b.json",
        ("b.json", '{"a": "' + '\\"' * 100_000): "jq -c '.FIELD[]' b.json",
    }
    for (name, text), words in cases.items():
        begun = FileText(name, "utf-8", "utf-8", text, is_whole=False)
        message = str(no_records(begun, whole_file=True, notes=()))
        assert words in message


def test_compressed_files_and_members_of_zip_files(tmp_path: Path) -> None:
    """R1.2: gz, bz2, xz, zst and zip are read; a damaged file is left out."""
    text = b"id,v\n1,a\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in/a.csv", text)
        archive.writestr("__MACOSX/._a.csv", b"x")
        archive.writestr("b.csv", text.replace(b"1,a", b"2,b"))
    contents = {"a.csv.gz": gzip.compress(text), "b.csv.bz2": bz2.compress(text), "c.CSV": text}
    contents |= {"d.csv.xz": lzma.compress(text), "e.csv.zip": packed.getvalue(), "f.csv.gz": b"\x1f\x8b\x08"}
    arrow = pytest.importorskip("pyarrow")
    contents["g.csv.zst"] = arrow.compress(text, codec="zstd", asbytes=True)
    sample = _sample(tmp_path, dict(contents))
    assert _values(sample) == [("1", "a")] * 5 + [("2", "b"), ("1", "a")]
    assert any(
        event == "left out" and words.startswith("f.csv.gz cannot be read") for event, words in sample.notes
    )
    alone = _sample(tmp_path, {"data.zip": packed.getvalue()})
    assert _values(alone) == [("1", "a"), ("2", "b")]
    with pytest.raises(TidemarkError, match="is not a zip file"):
        _sample(tmp_path, {"data.csv.zip": b"PK but no more"})


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_files_of_a_folder(tmp_path: Path) -> None:
    """R1.1: one format; other files are named; partitions are in the names of folders."""
    names = (
        "year=2025/month=01/a.csv",
        "year=2025/month=02/b.csv.gz",
        "c.txt",
        "README.md",
        ".hidden",
        "_x/y.csv",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("id,v\n1,a\n")
    folder = folder_of(tmp_path)
    assert [file.name for file in folder.files] == ["a.csv", "b.csv.gz"]
    assert folder.partitions == ("year", "month")
    assert folder.notes == (("left out", "1 .txt file: c.txt"),)
    with pytest.raises(TidemarkError, match="There are no files"):
        folder_of(_made(tmp_path / "none"))


def test_patterns_match_files_of_the_same_kind() -> None:
    """R1.1: compressed ones, other letter cases; no other formats."""
    pattern = pattern_of([Path("a.csv")], "")
    assert pattern == "*.{csv,CSV}{,.gz,.bz2,.zst,.xz,.zip}"
    matched = re.compile(regex_of(pattern).replace(r"\z", r"\Z"))
    for name in (
        "a.csv",
        "b_gz.csv.gz",
        "b.csv.bz2",
        "b.csv.zst",
        "b.csv.xz",
        "b.csv.zip",
        "C.CSV",
        "in/d.csv",
    ):
        assert matched.match(name), name
    for name in ("d.txt", "a.csv.bak", "a.csv.7z", "acsv"):
        assert not matched.match(name), name
    assert pattern_of([Path("x.Parquet")], "x_") == "x*.{parquet,PARQUET,Parquet}"
    assert pattern_of([Path("part-0001")], "") == "*"
    assert pattern_of([Path("x.zip")], "") == "*.{zip,ZIP}"


def test_formats_that_do_not_land_have_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: the command converts the file; it runs with pandas."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    xml = "<rows><row><id>01</id><v>a</v></row><row><id>02</id><v>b</v></row></rows>"
    for name, content in {"a.xml": xml, "b.csv": "id   v\n01   a\n02   b\n"}.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(TidemarkError) as caught:
            sample_of(NO_SPARK, [tmp_path / name])
        found = re.search(r'python -c "(.*)"', caught.value.fix)
        assert found
        exec(found[1])  # noqa: S102  # the command that users are told
        made = next(tmp_path.glob(f"{name[0]}*.csv") if name == "a.xml" else tmp_path.glob("*-converted.csv"))
        assert made.read_text() == "id,v\n01,a\n02,b\n"
    names = (
        "a.7z",
        "a.rar",
        "a.tar",
        "a.tar.gz",
        "a.tgz",
        "a.html",
        "a.sas7bdat",
        "a.dta",
        "a.sav",
        "a.feather",
    )
    names += ("a.h5", "a.sqlite", "a.mdb", "a.dbf", "a.geojson", "a.yaml", "a.pdf", "a.png", "a.parquet.gz")
    for name in names:
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(TidemarkError):
            sample_of(NO_SPARK, [tmp_path / name])
    contents = {
        b"PAR1....": "parquet",
        b"\x1f\x8b\x08": "gz",
        b"PK\x03\x04...xl/": "xlsx",
        b"%PDF-1": "format",
    }
    for head, words in contents.items():
        assert words in _refusal(tmp_path, head)
    assert "HTML" in _refusal(tmp_path, "<!DOCTYPE html><html></html>")


def test_names_are_readable() -> None:
    """R1.2: ASCII, split at capitals, unique, no keywords, no leading digit or `_`."""
    cases = {
        "Yaml.Ye_Off": "yaml_ye_off",
        "HTTPCode": "http_code",
        "userID": "user_id",
        "URLs": "urls",
        "数量": "shu_liang",
        "Größe (cm)": "grosse_cm",
        "Город": "gorod",
        "% of total": "percent_of_total",
        "Invoice #": "invoice_number",
        "_id": "id",
        "2019": "c_2019",
        "E-mail (work)": "e_mail_work",
        "customer's name": "customers_name",
        "!!": "",
    }
    assert {field: readable(field) for field in cases} == cases
    fields = ("a b", "a-b", "!!", "order", "raw_record", "A_B")
    assert [name for name, _ in column_names(fields, "line").values()] == [
        *("a_b", "a_b_2", "column_3", "line_order", "line_raw_record", "a_b_3"),
    ]


CELLS = '<c r="{cell}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _workbook(**sheets: list[list[Any]]) -> bytes:
    """Return an .xlsx file with texts and numbers."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as book:
        listed = "".join(f'<sheet name="{s}" sheetId="{n}" r:id="r{n}"/>' for n, s in enumerate(sheets, 1))
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>',
        )
        links = "".join(
            f'<Relationship Id="r{n}" Type="{LINKS}/worksheet" Target="worksheets/{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        kind = "http://schemas.openxmlformats.org/package/2006/relationships"
        root = f'<Relationship Id="r0" Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/>'
        book.writestr("_rels/.rels", f'<Relationships xmlns="{kind}">{root}</Relationships>')
        book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{kind}">{links}</Relationships>')
        for number, rows in enumerate(sheets.values(), 1):
            cells = "".join(_row(y, row) for y, row in enumerate(rows, 1))
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/{number}.xml", sheet)
    return stream.getvalue()


def _row(number: int, values: list[Any]) -> str:
    cells = [
        CELLS.format(cell=f"{column}{number}", text=value)
        if isinstance(value, str)
        else f'<c r="{column}{number}"><v>{value}</v></c>'
        for column, value in zip("ABCDEF", values, strict=False)
        if value is not None
    ]
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_workbooks(tmp_path: Path) -> None:
    """R1.2: the sheet, the header below a title, values as text."""
    table = [["id", "name", "price"], [1, "pen", 2.5], [2, " ink ", None]]
    records = [{"id": "1", "name": "pen", "price": "2.5"}, {"id": "2", "name": "ink", "price": None}]
    sample = _sample(tmp_path, {"a.xlsx": _workbook(Sheet1=table)})
    assert (sample.file_format, sample.options, sample.records) == ("excel", {}, records)
    assert sample.padded == {"name"}
    titled = [["Prices of 2025"], [], *table, ["Total", None, 2.5]]
    sample = _sample(tmp_path, {"a.xlsx": _workbook(Notes=[], Prices=titled, More=table)})
    assert sample.records == records
    assert sample.options == {"sheet": "Prices", "skip_lines": 2, "footer": 1}
    assert ("sheet", "Prices; the workbook also has Notes, More: use `--sheet` for another") in sample.notes
    with pytest.raises(TidemarkError, match=r"has no sheet 'X'.*\n.*'Notes', 'Prices'"):
        _sample(tmp_path, {"a.xlsx": _workbook(Notes=[], Prices=table)}, Choices(sheet="X"))
    with pytest.raises(TidemarkError, match=r"cannot be read as an Excel workbook"):
        _sample(tmp_path, {"a.xlsx": b"PK\x03\x04 and no more"})
    with pytest.raises(TidemarkError, match="has no lines"):
        _sample(tmp_path, {"a.xlsx": _workbook(Sheet1=[])})


def test_word_counts_determine_the_encoding() -> None:
    """R1.2: one odd word does not change the encoding of many."""
    text = "Москва\nКазань\nСамара\nУфа\n"
    (found,) = decoded([("a", text.encode("cp1251"))], None)
    assert (found.encoding, found.text) == ("windows-1251", text)


LANDED: dict[str, str | bytes] = {
    "titles.csv": "Report of sales\nRegion: North\n\n\nid,item,n\n1,pen,5\n2,ink,6\nTotal,,11\n",
    "comments.csv": '# by x\nid\tname\n1\tThe "big" one\n# mid\n2\tb\n',
    "cyrillic.csv": "id;city\n1;Москва\n2;Казань\n".encode("cp1251"),
    "quotes.csv": 'id,"a\nb"\n1,"two\nlines"\n2,5" pipe\n3,"open\n4,x\n',
    "backslash.csv": 'id,t\r1,"say \\"hi\\", ok"\r2,"x"\r',
    "headerless.csv.xz": lzma.compress(b"paris,blue\nlyon,red\n"),
    "prices.xlsx": _workbook(
        Notes=[["x"]], Prices=[["Prices"], ["id", "n"], [1, 2.5], [2, None], ["Total", 2.5]]
    ),
}
CHOICES = {"headerless": Choices(columns=("city", "colour")), "prices": Choices(sheet="Prices")}


def test_files_land_as_they_were_read(tmp_path: Path, spark: SparkSession, prefix: str) -> None:
    """R1.1-R1.4: with the options that are proposed, bronze has the records of the sample."""
    for name, content in LANDED.items():
        stem = name.partition(".")[0]
        folder = _made(tmp_path / stem)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        sample = sample_of(NO_SPARK, [folder / name], CHOICES.get(stem, Choices()).checked())
        names = {field: column for field, (column, _) in column_names(tuple(sample.types), "row").items()}
        node = {
            "name": stem,
            "schema": f"{prefix}_bronze",
            "original_file_path": "models/bronze/_bronze__sources.yml",
            "external": {
                "location": str(folder),
                "file_format": sample.file_format,
                "options": sample.options,
            },
            "columns": {
                column: {"name": column, "data_type": "string", "config": {"meta": {"field": field}}}
                for field, column in names.items()
            },
        }
        feed = FeedFolder(spark, feeds_of([node])[stem], folder, f"{prefix}_ops")
        assert not feed.land().rejected, name
        landed = spark.table(feed.feed.table).where("_corrupt_record is null").select(*names.values())
        read = [tuple(record.values()) for record in sample.everything()]
        assert sorted(map(tuple, landed.collect()), key=str) == sorted(read, key=str), name


def test_too_few_records_between_titles_and_totals_are_asked_for(tmp_path: Path) -> None:
    """R1.2: each line might be one value; with the delimiter the records are read."""
    text = "Region North, 2024\nReport of sales\n\n2024,Amount,x,id\n0095-01-07,718,a,1111-02-25\nTotal: 3\n"
    with pytest.raises(TidemarkError, match=r"(?s)a few lines of 4 fields.*--delimiter ','"):
        _sample(tmp_path, {"a.csv": text})
    _sample(tmp_path, {"a.csv": "comment\ngood, a, b\nnice\nbad, c, d\nfine\n"})
