"""What Spark says of a failure, in plain words, without Spark."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

import pytest
from pyspark.errors import PySparkException

from python_ingest.feeds.source_file import source_file
from python_ingest.files.broken_files import split_broken
from python_ingest.files.content import Content
from python_ingest.files.failures import disk_full, in_plain_words
from python_ingest.files.formats.lines import OPEN_LINE
from python_ingest.files.inspect_files import Examined
from python_ingest.files.parts import Part
from python_ingest.ops.batch import PlannedFile
from tidemark.spark.failures import is_disk_full

pytestmark = pytest.mark.R1

DAMAGED = [
    "java.io.EOFException",
    "Invalid sync!",
    "Malformed data. Length is negative: -13",
    "file:/raw/a.parquet is not a Parquet file. Expected magic number at tail, but found [0, 0, 0, 0]",
    "file:/raw/a.parquet is not a Parquet file (length is too low: 9)",
    "Socket is closed by peer.",
    "don't know what type: 15",
    "Incorrect type in stream. Expected 12 but got 8",
    "Required field 'num_values' was not found in serialized data! Struct: org.apache.parquet.format",
    "Required field 'type' was not present! Struct: PageHeader(type:null, uncompressed_page_size:0)",
    "FAILED_TO_UNCOMPRESS(5)",
    "Protocol message tag had invalid wire type.",
    "While parsing a protocol message, the input ended unexpectedly in the middle of a field.",
    "Not a valid ORC file file:/raw/a.orc (maxFileLength= 9223372036854775807)",
    "Illegal type id 0. The valid range is 0 to -1",
    "Data corruption detected",
    "Unexpected end of input stream",
    "gzip stream CRC failure",
    "stored gzip size doesn't match decompressed size",
    "invalid distance too far back",
    "invalid code -- missing end-of-block",
    "invalid literal/lengths set",
    "incorrect data check",
    "unexpected end of stream",
    "crc error",
    "Not enough input bytes",
    "Input is corrupted: offset=71",
    "Bit stream is not fully consumed: offset=71",
    "Bitstream end mark not present: offset=71",
]
OTHERS = [
    "No space left on device",
    "Java heap space",
    "Input/output error",
    "Permission denied",
    "Connection reset by peer",
    "Premature EOF from inputStream",
    "Cannot seek after EOF",
    "Checksum error: file:/raw/a.csv at 0 exp: 1 got: 2",
    "not a gzip file",
    "invalid credentials",
    "id not found in message spark_schema {",
]


@pytest.mark.parametrize("message", DAMAGED)
def test_damaged_files_are_reported_without_java_terms(message: str) -> None:
    """R1.4: what decoders say of files that are cut off, or in which bytes are changed."""
    assert in_plain_words(message) == "it is truncated or damaged: write or copy it again"


@pytest.mark.parametrize("message", OTHERS)
def test_other_causes_are_reported(message: str) -> None:
    """R1.4: the network, rights, memory, other formats."""
    assert in_plain_words(message) == message


@pytest.mark.parametrize(
    "message",
    [
        "java.lang.NullPointerException",
        'Cannot invoke "String.length()" because "content" is null',
        "Index 258 out of bounds for length 258",
    ],
)
def test_errors_of_the_reader_have_no_java(message: str) -> None:
    """R1.4: code that fails on damaged bytes; logs/spark.log keeps the cause."""
    assert in_plain_words(message) == (
        "Spark cannot read it, maybe because it is damaged: write or copy it again"
    )


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "org.apache.hadoop.io.compress.BrotliCodec",
            "it is compressed with brotli, which Spark cannot read",
        ),
        ("com.hadoop.compression.lzo.LzoCodec", "it is compressed with lzo, which Spark cannot read"),
        ("Unrecognized codec: lz4", "it is compressed with lz4, which Spark cannot read"),
        (
            "[COLUMN_ALREADY_EXISTS] The column `v` already exists. Choose another name. SQLSTATE: 42711",
            "it has the column `v` twice",
        ),
        (
            "[DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION] Decimal precision 60 exceeds max precision 38.",
            "a decimal in it has 60 digits: write it with at most 38 digits",
        ),
        ("[CANNOT_READ] The value is odd. SQLSTATE: 22000", "The value is odd."),
    ],
)
def test_messages_of_spark_become_plain_messages(message: str, words: str) -> None:
    """R1.4: what it is and what to do, without codes and class names."""
    assert in_plain_words(message).startswith(words)


def test_a_full_disk_is_distinguished_from_other_failures() -> None:
    """R1.4: of the disk or of a quota; the message names the table, the lake and what to do."""
    full, quota, lost = (
        OSError(number, os.strerror(number)) for number in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    )
    assert is_disk_full(full)
    assert is_disk_full(quota)
    assert not is_disk_full(lost)
    message = str(disk_full("people", "bronze.people", "lake"))
    assert "bronze.people could not be written: the disk of the lake (lake)" in message
    assert "Free disk space and run the same command again" in message


def test_files_with_open_quotes_are_not_broken() -> None:
    """R1.4: of two files, one cannot be read; the other one has an open quote, and is examined again."""
    files = [_examined("cut.csv.gz"), _examined("open.csv")]
    cut = PySparkException("Encountered error while reading file file:///raw/cut.csv.gz. crc error")

    def read(_: object) -> NoReturn:
        raise PySparkException(f"[USER_RAISED_EXCEPTION] {OPEN_LINE} SQLSTATE: P0001")

    sound, noted = split_broken(cut, files, read)
    assert [one.file.path for one in sound] == ["open.csv"]
    assert [one.file.path for one in noted] == ["cut.csv.gz"]


def _examined(path: str) -> Examined:
    file = source_file(path, f"file:/raw/{path}", 1, 0)
    reads = ((Part(file, Content(), path), None),)
    return Examined(file, reads, PlannedFile(path, 1, file.modified_at, None))
