"""Whom `tidemark erase` erases, what its proof finds in files, and hashes; without Spark where it can be."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import lzma
import zipfile
from html import escape
from pathlib import Path
from typing import Any

import fastavro
import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from python_ingest.bronze.pseudonyms import PII_KEY
from python_ingest.feeds.declarations import Feed, feeds_of
from python_ingest.ops.erasures import ERASURE_KEY, Erased, Erasures
from tests.conftest import MakeFeed
from tidemark.base.clock import utc_now
from tidemark.base.errors import DeclarationError, LandingError, TidemarkError
from tidemark.lake.hidden_rows import hidden_rows
from tidemark.lake.keyed_hash import KeyedHash, hashed
from tidemark.operate.doctor.secrets import redacted
from tidemark.operate.erasure.messages import hidden_variables
from tidemark.operate.erasure.person import parsed_key
from tidemark.operate.erasure.search import BEGINNING, files_below, search, searchable
from tidemark.operate.erasure.written_files import clean, folders_of

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]
EMAIL = "wilhelmina.quandary@example.org"
SECRET = "a secret of these tests"  # noqa: S105


def _feed(**external: Any) -> Feed:
    node = {
        "name": "customers",
        "schema": "bronze",
        "original_file_path": "models/bronze/_bronze__sources.yml",
        "external": {"location": "raw", "file_format": "json", **external},
        "columns": {
            "customer_id": {"name": "customer_id", "data_type": "bigint"},
            "email": {"name": "email", "data_type": "string"},
        },
    }
    return feeds_of([node])["customers"]


def _standard(secret: str, value: str) -> str:
    return hmac.new(secret.encode(), value.encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (["42"], "not of the form column=value"),
        (["customer_id="], "not of the form column=value"),
        (["customer=42"], "(?s)no column 'customer'.*customer_id"),
        (["email=a", "email=b"], "names 'email' twice"),
    ],
)
def test_a_key_names_columns_of_the_feed(key: list[str], message: str) -> None:
    """Each once, with a value; the order of the options does not matter."""
    with pytest.raises(TidemarkError, match=message):
        parsed_key(key, _feed())
    assert list(parsed_key(["email = a=b", "customer_id=42"], _feed()).items()) == [
        ("customer_id", "42"),
        ("email", "a=b"),
    ]


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ({"pii": ["phone"]}, "'phone' is not a declared column"),
        ({"pii": ["customer_id"], "hash_pii": True}, "'customer_id' has type bigint"),
        ({"hash_pii": True}, "`hash_pii` without columns"),
    ],
)
def test_personal_columns_are_declared_columns(external: dict[str, Any], message: str) -> None:
    """Hashes are texts."""
    with pytest.raises(DeclarationError, match=f"external.pii: .*{message}"):
        _feed(**external)
    assert _feed(pii=["customer_id"]).external.pii == ("customer_id",)


def test_what_dbt_has_written_loses_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs in their places, also while a process appends to them; other files are written again."""
    for name in ("DBT_TARGET_PATH", "DBT_LOG_PATH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dbt_project.yml").write_text("name: shop\ntarget-path: out\n")
    person = 'Zoë "Quandary"'
    files = {
        "out/run_results.json": json.dumps({"vars": json.dumps({"who": person})}),
        "out/manifest.json": "{}",
        "logs/dbt.log": f"--vars {person}\n",
        "logs/dbt.log.1": f"{json.dumps(person)} --key customer_id=42\n",
        "site/report.html": person,
        "data/people.csv": person,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    texts = [person, "customer_id=42"]
    folders = folders_of(tmp_path)
    assert [folder.name for folder in folders] == ["target", "logs", "site"]
    for folder in folders:
        assert clean(folder, texts, is_plan=True).partition(" with ")[0] in ("1 file", "2 files")
    assert all((tmp_path / name).read_text(encoding="utf-8") == text for name, text in files.items())

    with (tmp_path / "logs/dbt.log").open("a", encoding="utf-8") as log:
        for folder in folders:
            clean(folder, texts)
        log.write("ended\n")
    left = {name for name in files if (tmp_path / name).is_file()}
    assert left == {"out/manifest.json", "logs/dbt.log", "logs/dbt.log.1", "data/people.csv"}
    assert (tmp_path / "logs/dbt.log").read_text() == f"--vars {'*' * len(person.encode())}\nended\n"
    assert (tmp_path / "logs/dbt.log.1").read_text().endswith(f'*" --key {"*" * 14}\n')
    assert [clean(folder, texts) for folder in folders] == ["", "", ""]


@pytest.mark.parametrize(
    ("variables", "hidden"),
    [
        ({"customer_id": 42, "n": 42}, {"customer_id": "***", "n": 42}),
        ({"customer_id": 420, "n": None}, {"customer_id": 420, "n": None}),
        ({"where": f"email = '{EMAIL}'", "b": True}, {"where": "***", "b": True}),
        ({"who": ['Zoë "Q"'], "day": "2025-01-01"}, {"who": "***", "day": "2025-01-01"}),
    ],
)
def test_variables_of_runs_do_not_quote_the_person(variables: dict[str, Any], hidden: dict[str, Any]) -> None:
    """The others stay, so that a run can be reproduced."""
    after = hidden_variables(json.dumps(variables), [("customer_id", "42")], [EMAIL, 'Zoë "Q"'])
    assert json.loads(after) == hidden


def test_files_are_searched_in_bytes_and_decompressed(tmp_path: Path) -> None:
    """Parquet of all kinds, gz, zstd, xz, a workbook, Avro; JSON in JSON; the beginning in logs."""
    name = 'Zoë "Quandary" O\'Brien'
    texts = searchable([EMAIL, name, "004915112345678", "42"])
    assert "42" not in texts
    table = pyarrow.table(
        {
            "email": [EMAIL, "other@example.org"] * 500,
            "phone": pyarrow.array([4915112345678, 1] * 500, pyarrow.int64()),
            "who": [{"name": name}, None] * 500,
        }
    )
    files = {
        name: tmp_path / name for name in ("a.parquet", "b.parquet", "c.parquet", "d.gz", "e.zst", "f.avro")
    }
    plain = {"compression": "zstd", "write_statistics": False}
    for column, path in zip(("email", "phone", "who"), list(files.values())[:3], strict=True):
        pyarrow.parquet.write_table(table.select([column]), path, **plain)
    files["d.gz"].write_bytes(gzip.compress(f"x{EMAIL}x".encode()))
    (tmp_path / "g.xz").write_bytes(lzma.compress(EMAIL.encode()))
    with zipfile.ZipFile(tmp_path / "h.xlsx", "w", zipfile.ZIP_DEFLATED) as workbook:
        workbook.writestr("xl/sharedStrings.xml", f"<t>{escape(name)}</t>")
    with pyarrow.CompressedOutputStream(str(files["e.zst"]), "zstd") as stream:
        stream.write(name.encode())
    records = [{"bound": EMAIL[:BEGINNING].encode()}]
    schema = {"type": "record", "name": "entry", "fields": [{"name": "bound", "type": "bytes"}]}
    for codec in ("deflate", "null"):
        folder = tmp_path / codec / "metadata"
        folder.mkdir(parents=True)
        with (folder / "f.avro").open("wb") as file:
            fastavro.writer(file, schema, records * 3, codec=codec)
    log = tmp_path / "_delta_log" / "0.json"
    log.parent.mkdir()
    log.write_text(json.dumps({"add": {"stats": json.dumps({"minValues": {"name": name[:10]}})}}))
    (tmp_path / "clean.csv").write_text("42,other@example.org\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")

    phone = ["4915112345678"]
    found = search(str(tmp_path), files_below(tmp_path), searchable([EMAIL, name[:10], name, *phone]))
    hits = {hit.removeprefix(f"{tmp_path}/").partition(" (")[0]: hit.partition(" (")[2] for hit in found.hits}
    assert found.files == 12
    assert sorted(hits) == sorted(
        ["a.parquet", "b.parquet", "c.parquet", "d.gz", "e.zst", "g.xz", "h.xlsx", "broken.parquet"]
        + ["_delta_log/0.json"]
        + [f"{codec}/metadata/f.avro" for codec in ("deflate", "null")]
    )
    assert hits["broken.parquet"].startswith("it cannot be read")
    assert search(str(tmp_path), files_below(tmp_path), searchable(["nobody@example.org"])).hits == [
        f"{tmp_path}/broken.parquet ({hits['broken.parquet']}"
    ]


def test_secrets_are_checked_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing secret, and a short one, are refused by the name of the variable."""
    monkeypatch.delenv(PII_KEY, raising=False)
    with pytest.raises(TidemarkError, match=f"{PII_KEY}, which is not set"):
        KeyedHash(PII_KEY, "A test")
    monkeypatch.setenv(PII_KEY, "short")
    with pytest.raises(TidemarkError, match="fewer than 16 characters"):
        KeyedHash(PII_KEY, "A test")
    monkeypatch.setenv(PII_KEY, SECRET)
    assert redacted(f"failed with {SECRET}") == "failed with ***"


@pytest.mark.parametrize("secret", [SECRET, "x" * 100])
def test_a_query_hashes_as_the_standard_library_does(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """HMAC-SHA256, also with a secret longer than a block; no plan shows the secret or the values."""
    monkeypatch.setenv(PII_KEY, secret)
    keyed = KeyedHash(PII_KEY, "A test")
    values = ["", "ann@example.org", "Zoë"]
    rows = keyed.with_key_columns(hidden_rows(spark, "value string", [[value] for value in values]))
    found = rows.select("value", hashed(f.col("value")).alias("hash"), hashed(f.lit(None)).alias("none"))
    plan = found._jdf.queryExecution().toString()
    assert "ann@example.org" not in plan
    assert secret not in plan
    assert (secret[:8].encode().hex() in plan, "363636" in plan) == (False, False)
    expected = {
        value: hmac.new(secret.encode(), value.encode(), hashlib.sha256).hexdigest() for value in values
    }
    assert {row["value"]: (row["hash"], row["none"]) for row in found.collect()} == {
        value: (text, None) for value, text in expected.items()
    }
    assert {keyed.of(value) for value in values} == set(expected.values())


def test_personal_values_land_as_hashes(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of broken records and rescued objects nothing is kept; without the secret nothing lands."""
    people = make_feed(
        {"id": "bigint", "email": "string"},
        "json",
        pattern="*.json",
        pii=["email"],
        hash_pii=True,
        max_rejected_records=1,
    )
    lines = [
        {"id": 1, "email": EMAIL},
        {"id": 2, "email": None, "note": "kept"},
        {"id": 3, "email": {"work": EMAIL}},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    people.write("a.json", text + f'{{"id": 4, "email": "{EMAIL}\n')
    monkeypatch.delenv(PII_KEY, raising=False)
    with pytest.raises(TidemarkError, match=PII_KEY):
        people.land()
    monkeypatch.setenv(PII_KEY, SECRET)
    assert people.land().broken == 1
    rows = {row[0]: row[1:] for row in people.rows("id", "email", "_rescued_data", "_corrupt_record")}
    assert rows[1] == (_standard(SECRET, EMAIL), None, None)
    assert (rows[2][0], json.loads(rows[2][1])) == (None, {"note": "kept"})
    assert EMAIL not in str(rows)
    assert rows[None][2].startswith("not kept")
    rejected = people.spark.table(f"{people.ops_schema}.rejected_records").collect()
    assert (len(rejected), EMAIL in str(rejected), rejected[0]["fields"]) == (1, False, None)

    people.write("b.json", f'{{"id": "{EMAIL}\n' * 2)
    with pytest.raises(LandingError, match="2 of 2 records cannot be read") as stopped:
        people.land()
    assert EMAIL not in str(stopped.value)


@pytest.mark.parametrize("file_format", ["json", "parquet"])
def test_rows_of_erased_persons_land_without_content(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    """R1.1: a key of two columns, of two types; a broken record is hers if it has both values as words."""
    people = make_feed({"id": "bigint", "name": "string"}, file_format)
    monkeypatch.setenv(ERASURE_KEY, SECRET)
    erasures = Erasures(people.spark, people.ops_schema, "people")
    hashes = tuple(erasures.hash.of(erasures.message(*entry)) for entry in (("id", "1"), ("name", "Ann")))
    erasures.record(Erased("a1", ("id", "name"), hashes, 0, False), "started", utc_now())
    rows: list[tuple[Any, Any]] = [(1, "Ann"), (1, " Ann"), (1, "Bob"), (2, "Ann"), (1, None)]
    if file_format == "parquet":
        ids, names = zip(*rows, strict=True)
        table = pyarrow.table({"id": pyarrow.array(ids, pyarrow.int64()), "name": names})
        pyarrow.parquet.write_table(table, people.folder / "a.parquet")
        broken = []
    else:
        broken = ['{"id": 1, "name": "Ann', '{"id": 1, "name": "Anna']
        rows += [("1", "Ann"), ("2", "Ann")]  # no number, so rescued
        lines = [json.dumps({"id": number, "name": name}) for number, name in rows] + broken
        people.write("a.json", "\n".join(lines))
    outcome = people.land()
    of_hers = 4 if broken else 2
    assert (outcome.rows, outcome.broken, outcome.erased) == (
        len(rows) + len(broken),
        of_hers + len(broken) // 2,
        of_hers,
    )
    sound = [row[1:] for row in people.rows("_corrupt_reason", "id", "name") if row[0] is None]
    rescued = [(None, "Ann")] if broken else []
    assert sorted(sound, key=str) == [(1, "Bob"), (1, None), (2, "Ann"), *rescued]
    rejected = (
        people.spark.table(f"{people.ops_schema}.rejected_records").select("raw_record", "reason").collect()
    )
    gone = [("erased: a1", "erased")] * outcome.erased
    assert sorted(tuple(row) for row in rejected if row["reason"] == "erased") == gone
    assert [row["raw_record"] for row in rejected if row["reason"] != "erased"] == broken[1:]
