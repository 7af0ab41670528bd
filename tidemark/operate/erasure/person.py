"""The person whose rows are erased: the values of the key, and the personal values in bronze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.bronze.pseudonyms import pii_hash
from python_ingest.bronze.suppression import SEPARATORS, key_text
from python_ingest.feeds.declarations import Feed, FileFeed
from python_ingest.ops.erasures import Erased, Erasures
from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.lake.hidden_rows import hidden_rows
from tidemark.lake.versions_by_format import versions_of
from tidemark.operate.erasure.search import searchable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MAX_VALUES = 10_000  # personal values of one column that are searched in files


@dataclass(frozen=True)
class Person:
    """A person in one feed.

    Attributes:
        feed: the feed.
        key: the values of the key by column, as bronze has them in text.
        erased: the same as hashes.
    """

    feed: Feed
    key: Mapping[str, str] = field(repr=False)
    erased: Erased

    def view(self, spark: SparkSession) -> DataFrame:
        """Return one row with the values, in the columns `_key_0`, `_key_1` and so on; no plan shows them."""
        columns = ", ".join(f"_key_{position} string" for position in range(len(self.key)))
        return hidden_rows(spark, columns, [list(self.key.values())])

    def has_words(self, record: Column) -> Column:
        """Return whether a record that cannot be read has all values of the key; beside `view`."""
        words = f.split(record, SEPARATORS)
        there = f.lit(True)
        for position in range(len(self.key)):
            value = f.col(f"_key_{position}")
            is_word = f.array_contains(words, value)
            there &= is_word | (f.rlike(value, f.lit(SEPARATORS)) & f.contains(record, value))
        return f.coalesce(there, f.lit(False))


def parsed_key(texts: Sequence[str], feed: Feed) -> dict[str, str]:
    """Return the values of `column=value` by column.

    Args:
        texts: what `--key` was given.
        feed: the feed.

    Raises:
        TidemarkError: if the feed has no such column, or a text is not of this form.
    """
    key: dict[str, str] = {}
    for text in texts:
        column, equals, value = text.partition("=")
        column, value = column.strip(), value.strip()
        if not (equals and column and value):
            raise TidemarkError(
                "--key is not of the form column=value.", "For example: --key customer_id=42."
            )
        if column not in feed.column_names:
            raise TidemarkError(
                f"Feed '{feed.name}' has no column '{column}'.",
                f"{did_you_mean(column, feed.column_names)}Choose from: {', '.join(feed.column_names)}.",
            )
        if column in key:
            raise TidemarkError(
                f"--key names '{column}' twice.", "Erase one person at a time, by one value of each column."
            )
        key[column] = value
    return dict(sorted(key.items()))


def person_of(
    spark: SparkSession, feed: Feed, key: Mapping[str, str], erasures: Erasures, version: int
) -> Person:
    """Return the person with a key.

    Args:
        spark: the session.
        feed: the feed.
        key: from `parsed_key`.
        erasures: the erasures in the feed.
        version: bronze's present version, for an erasure that begins now.

    Raises:
        TidemarkError: if a value is not of its column's type, or the secret is missing or another one.
    """
    types = dict(spark.table(feed.table).dtypes)
    values = {column: _as_in_bronze(spark, column, value, types[column]) for column, value in key.items()}
    if isinstance(feed, FileFeed) and feed.external.hash_pii:
        values |= {
            column: pii_hash(feed).of(values[column]) for column in values if column in feed.external.pii
        }
    hashes = tuple(erasures.hash.of(erasures.message(*entry)) for entry in values.items())
    known = next((one for one in erasures.erased() if one.hashes == hashes), None)
    erasure_id = erasures.hash.of("\x1f".join((feed.name, *hashes)))[:16]
    return Person(feed, values, known or Erased(erasure_id, tuple(values), hashes, version, False))


def matches_person(person: Person, types: Mapping[str, str], columns: Mapping[str, str]) -> Column:
    """Return whether a row beside `Person.view` is the person's.

    Args:
        person: the person.
        types: the types of the row's columns.
        columns: the row's column for each column of the key.
    """
    same = f.lit(True)
    for position, column in enumerate(person.key):
        name = columns[column]
        value = f.col(f"_key_{position}")
        if types[name] == "string":
            same &= key_text(name, "string") == value
        else:
            same &= f.col(in_sql(name)) == value.try_cast(types[name])
    return f.coalesce(same, f.lit(False))


@dataclass
class Personal:
    """Values of the person in bronze, to be searched in files. They stay in memory.

    Attributes:
        values: by column.
        shared: the number of values by column that other persons have, too: they are not searched.
        is_whole: false if the rows were erased before the values could be read.
    """

    values: dict[str, list[str]] = field(default_factory=dict, repr=False)
    shared: dict[str, int] = field(default_factory=dict)
    is_whole: bool = True

    def texts(self, person: Person) -> list[str]:
        """Return these values and those of the key, if they are long enough to be searched."""
        return searchable([*person.key.values(), *chain.from_iterable(self.values.values())])

    def texts_of_project(self, person: Person) -> list[str]:
        """Return the values as `texts` does, and short ones of the key as command lines have them."""
        return [*self.texts(person), *(f"{column}={value}" for column, value in person.key.items())]


def personal_values(spark: SparkSession, person: Person, *, is_started: bool) -> Personal:
    """Read the person's values of the declared `pii` columns.

    Args:
        spark: the session.
        person: the person.
        is_started: whether an earlier attempt may have erased the rows; then those of before are read, too.
    """
    found, table = Personal(), person.feed.table
    columns = [name for name in person.feed.external.pii if name in spark.table(table).columns]
    if not columns:
        return found
    rows = spark.table(table)
    if is_started:
        version = person.erased.bronze_version
        found.is_whole = versions_of(spark, table).why_lost(version) is None
        if found.is_whole:
            before = spark.sql(f"select * from {table} version as of {version}")
            rows = rows.unionByName(before, allowMissingColumns=True)
    types = {column: column for column in person.key}
    marked = rows.crossJoin(f.broadcast(person.view(spark))).withColumn(
        "_matches_person", matches_person(person, dict(rows.dtypes), types)
    )
    for column in columns:
        by_value = marked.groupBy(f.trim(f.col(in_sql(column)).cast("string")).alias("value")).agg(
            f.bool_or("_matches_person").alias("matches_person"),
            f.bool_and("_matches_person").alias("is_own"),
        )
        matches: Any = by_value.where("matches_person and value <> ''").limit(MAX_VALUES).collect()
        found.values[column] = [row["value"] for row in matches if row["is_own"]]
        if others := sum(not row["is_own"] for row in matches):
            found.shared[column] = others
    return found


def _as_in_bronze(spark: SparkSession, column: str, value: str, of: str) -> str:
    if of == "string":
        return value
    row: Any = (
        hidden_rows(spark, "value string", [[value]])
        .select(f.col("value").try_cast(of).cast("string"))
        .first()
    )
    if row[0] is None:
        raise TidemarkError(
            f"The value of --key {column} cannot be converted to {of}, the column's type.",
            "Give the value as `select` prints it.",
        )
    return str(row[0])
