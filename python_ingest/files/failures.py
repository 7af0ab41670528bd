"""Which file made a Spark job fail, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidemark.base.errors import LandingError, SparkLostError
from tidemark.base.messages import plain_message
from tidemark.spark.failures import causes

READING = re.compile(r"(?:while reading file|Could not read footer for file:?) (\S+?)\.?(?: SQLSTATE|\s|$)")
# Full messages of decoders for damaged bytes; any other message may have another cause.
DAMAGED = re.compile(
    r"java\.io\.EOFException"  # Avro, and pages of Parquet
    r"|Invalid sync!|Malformed data\. .*"  # Avro
    r"|.* is not a Parquet file(?: \(length is too low: \d+\)|\. Expected magic number at tail.*)"
    r"|Socket is closed by peer\.|don't know what type: .*|Incorrect type in stream\. .*"  # Parquet's headers
    r"|Required field '\w+' was not .*"
    r"|Unexpected end of input stream|gzip stream CRC failure|stored gzip size doesn't match .*"
    r"|invalid (?:distance|literal|code|block|stored|bit)\b.*|incorrect (?:data|length) check"  # zlib
    r"|unexpected end of stream|crc error"  # bzip2
    r"|Not enough input bytes|Input is corrupted: .*|Bit ?stream (?:is not fully|end mark not) .*"  # zstd
    r"|(?:Protocol message|While parsing a protocol message,|CodedInputStream) .*"  # ORC
    r"|Not a valid ORC file .*|Malformed ORC file.*|Illegal type id .*|position is negative"
    r"|Data corruption detected|FAILED_TO_UNCOMPRESS\(\d+\)"  # zstd and snappy inside Parquet
)
# Messages of code that failed on damaged bytes, or because of a bug in the reader itself.
READER_BUG = re.compile(r".*(?:NullPointerException|Cannot invoke|[Ii]ndex -?\d+ out of bounds).*")
COMPRESSED = "it is compressed with {}, which Spark cannot read: write it with zstd, gzip or snappy"
PLAIN = (
    (re.compile(r"\.(Brotli|Lzo|Lzo[48]\w*)Codec\b"), COMPRESSED),
    (re.compile(r"Unrecognized codec: (\w+)"), COMPRESSED.replace("gzip", "deflate")),
    (
        re.compile(r"COLUMN_ALREADY_EXISTS\] The column (.+?) already exists"),
        "it has the column {} twice (names that differ in letter case only count as one): rename one of them",
    ),
    (
        re.compile(r"Decimal precision (\d+) exceeds max precision"),
        "a decimal in it has {} digits: write it with at most 38 digits, or as text",
    ),
    (  # the CSV reader of files that are too large for one text
        re.compile(r"Unescaped quote character "),
        "a quote is not closed, or is followed by other text: correct the file, or set the option "
        "`multi_line: false` if each line is a record",
    ),
    (
        re.compile(r"Avro schema cannot be converted to a Spark SQL StructType"),
        "its records have no fields: a file must hold records",
    ),
)
WRAPPED = re.compile(r"^\[[A-Z_.]+\] | SQLSTATE: \w+\.?$")  # around a message of Spark
MAX_FILES_SHOWN = 20  # files in a message


def broken_file(error: Exception) -> tuple[str, str] | None:
    """Return the file that Spark was reading when a job failed, and the innermost reason.

    Args:
        error: the exception of a Spark action.

    Returns:
        The file as Spark names it (a URI) and one sentence, or None if the job did not fail on a file.
    """
    messages = causes(error)
    for message in messages:
        if found := READING.search(message):
            inner = [text for text in messages if text and not READING.search(text)]
            return found[1], in_plain_words(first_sentence(inner[-1] if inner else message))
    return None


def in_plain_words(message: str) -> str:
    """Return why a file cannot be read, without Java's and Spark's terms.

    Args:
        message: the message of the first cause, one sentence.
    """
    if DAMAGED.fullmatch(message):
        return "it is truncated or damaged: write or copy it again"
    if READER_BUG.fullmatch(message):
        return "Spark cannot read it, maybe because it is damaged: write or copy it again"
    for pattern, words in PLAIN:
        if found := pattern.search(message):
            return words.format(*(str(group).lower() for group in found.groups()))
    return WRAPPED.sub("", message)


def disk_full(feed: str, table: str, folder: str) -> LandingError:
    """Return the error for a feed that did not land because a disk is full.

    Args:
        feed: the feed's name.
        table: its bronze table.
        folder: the lake's folder.
    """
    return LandingError(
        f"Feed '{feed}': {table} could not be written: the disk of the lake ({folder}) or of Spark's "
        "temporary files is full.",
        "Free disk space and run the same command again: it finishes the batch, and nothing lands twice.",
    )


def unexpected(feed: str, declared_in: str, error: Exception) -> LandingError:
    """Return the error for a feed that did not land for a cause that Tidemark does not know.

    Args:
        feed: the feed's name.
        declared_in: the file of its declaration.
        error: what Spark or Python raised.
    """
    return LandingError(
        f"Feed '{feed}': it could not land: {in_plain_words(innermost(error)) or type(error).__name__}",
        f"Nothing of the batch landed. Check its declaration in {declared_in} and its files; "
        f"`tidemark --debug land {feed}` shows the stack trace.",
    )


def innermost(error: Exception) -> str:
    """Return the message of an error's first cause, in one sentence."""
    return first_sentence(causes(error)[-1])


def spark_lost(feeds: Sequence[str], paths: Sequence[str]) -> SparkLostError:
    """Return the error for feeds whose landing was interrupted by the end of the JVM.

    Args:
        feeds: the names of the feeds.
        paths: the files of their current batches; empty if there was none.
    """
    more = f" and {len(paths) - MAX_FILES_SHOWN:,} more" * (len(paths) > MAX_FILES_SHOWN)
    reading = f" while reading {', '.join(paths[:MAX_FILES_SHOWN])}{more}" * bool(paths)
    named = ", ".join(f"'{feed}'" for feed in feeds)
    return SparkLostError(
        f"Feed{'s' * (len(feeds) > 1)} {named}: Spark's process (the JVM) ended{reading}.",
        "Run the same command again: it finishes the batch, and nothing lands twice. If Spark ends "
        "again, give it more memory (TIDEMARK_DRIVER_MEMORY), or move these files away one by one. "
        "See logs/spark.log for details.",
    )


def first_sentence(message: str) -> str:
    """Return the first line of a message, without a leading Java class name."""
    lines = plain_message(message).splitlines() or [message.strip()]
    return re.sub(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ", "", lines[0].strip())[:300]
