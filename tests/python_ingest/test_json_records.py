"""JSON records are read in two ways, plain ones quickly and others whole: both say the same of each."""

from __future__ import annotations

import itertools
import json

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructField, StructType

from python_ingest.bronze.columns import Target
from python_ingest.files.formats import json_records
from python_ingest.files.formats.json_records import NO_OBJECT, TOO_LARGE, TWICE, json_rows
from python_ingest.files.formats.plain_json import with_plain

pytestmark = pytest.mark.R1

TYPES = {
    "whole": "bigint", "small": "tinyint", "word": "string", "share": "double", "price": "decimal(8,2)",
    "wide": "decimal(30,15)", "is_on": "boolean", "at": "timestamp", "day": "date", "local": "timestamp_ntz",
}  # fmt: skip
NESTED = {"nested": "array<int>"}  # a feed that has such a column reads every record whole
VALUES = """
null 1 -1 200 1.0 1.10 1.105 1e2 1e400 -0 -0.0 1E-30 1e-7 01 +1 .5 1_0 9007199254740993 9007199254740993.0
0.1234567890123456789012 12.1200000000000001 99999999.999 123456789012345678901234567890
"1" "1.5" "1,234.5" "\u0661" "abc" "" "null" "true" "NaN" "INF" NaN INF -INF Infinity true
"2025-01-01" "2025-01-01T10:00:00Z" "2025-01-01T10:00:00.123456789+02:00" "2025-13-01"
[] [1] {} {"x":1} {"x":1,"x":2} "{" "]" "\\u0000" "\u00e4\u20ac" "\\ud800" [ { 'x' /**/1
""".split()  # noqa: SIM905  # a table of literals is read more easily
BESIDES = ['" 1.5 "', "1 1", '"a b"']
BROKEN = [
    "", " ", "null", "1", "[]", "[{}]", '{"whole":1',
    '{"whole":1,}', '{"whole":1} x', '{"whole":1}{"whole":2}',
    '{"whole":1},{"whole":2}', '{"whole":1}]', '{"whole":1}] ]', '{"whole":1}],[{"whole":2}', '{"whole":1}}',
    '{"whole":1}} }', '{"whole":1},"record":{"whole":2}', '{"whole":1}},{"record":{"whole":2}',
]  # fmt: skip
SOUND = ["{}", '{"whole":1}', ' {"whole": 1 } ', '\ufeff{"whole":1}', '{"whole":1,"word":"a]}b"}', '{"":1}']


def _read(lines: DataFrame, types: dict[str, str]) -> list[tuple[str, ...]]:
    targets = [Target(name, DataType.fromDDL(of)) for name, of in types.items()]
    rows = json_rows(lines, (), targets).select(
        "_id",
        *[f.col(name).cast("string") for name in TYPES],
        "_rescued_data",
        "_corrupt_record",
        "_corrupt_reason",
    )
    return sorted(map(tuple, rows.collect()))


def _lines(spark: SparkSession, texts: list[str]) -> DataFrame:
    lines = spark.createDataFrame(list(enumerate(texts)), "_id int, _line string")
    return lines.withColumn("_is_legible", f.lit(True)).cache()


def test_plain_or_whole_a_record_reads_the_same(spark: SparkSession) -> None:
    """Every value in every column, alone and among others."""
    names = [*TYPES, "undeclared", "WHOLE"]
    pairs = list(itertools.product(names, VALUES + BESIDES))
    texts = [f"{{{json.dumps(name)}:{value}}}" for name, value in pairs]
    texts += [f'{{"whole": 1, {json.dumps(name)}: {value} ,"word": "x"}}' for name, value in pairs]
    lines = _lines(spark, texts + BROKEN + SOUND)
    plain = _read(lines, TYPES)
    types = StructType([StructField(name, DataType.fromDDL(of)) for name, of in TYPES.items()])
    assert with_plain(lines, types).where("_plain is not null").count() > len(names)
    assert plain == _read(lines, TYPES | NESTED)
    assert len(plain) == len(texts) + len(BROKEN) + len(SOUND)


def test_a_name_that_is_given_twice_inside(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: the same reason as for one given twice outside; in a very large record it may be the size."""
    twice = ['{"more":{"x":1,"x":2}}', '{"whole":1,"more":[{"x":{"y":1,"y":2}}]}', '{"whole":1,"whole":1}']
    others = ['{"more":{"x":1,"x":2}} 1', '{"more":{"x":1,"x":2}}],[{"whole":1}']
    lines = _lines(spark, twice + others)
    assert [row[-1] for row in _read(lines, TYPES)] == [TWICE] * 3 + [NO_OBJECT] * 2
    monkeypatch.setattr(json_records, "SAFE_BYTES", 30)
    assert [row[-1] for row in _read(lines, TYPES)] == [TWICE, TOO_LARGE, TWICE] + [NO_OBJECT] * 2


def test_what_is_more_or_less_than_one_object_is_marked(spark: SparkSession) -> None:
    """What follows a record is not passed over, whichever bracket it begins with."""
    rows = _read(_lines(spark, BROKEN), TYPES)
    assert [(text, row[-1]) for text, row in zip(BROKEN, rows, strict=True)] == [
        (text, NO_OBJECT) for text in BROKEN
    ]
    assert [row[-1] for row in _read(_lines(spark, SOUND), TYPES)] == [None] * len(SOUND)
