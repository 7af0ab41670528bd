"""Keep the rows of erased persons out of bronze: their places stay, as records rejected with `erased`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.bronze.contract import AGAINST
from python_ingest.ops.erasures import REASON, Erased, Erasures, tombstone
from tidemark.lake.keyed_hash import hashed
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CONTENT = ("_rescued_data", "_message_key")  # with the source's columns, what a row holds of its record
SEPARATORS = r"[\s,;|\"'{}\[\]():=<>]+"  # between the words of a record that cannot be read


def key_text(column: str, of: str) -> Column:
    """Return a value of a key as the text that is compared and hashed.

    Args:
        column: the column.
        of: its type, as SQL.
    """
    text = f.col(in_sql(column)).cast("string")
    return f.trim(text) if of == "string" else text


def whole_key_text(column: str, of: str, field: str) -> Column:
    """Return a value of a key as `key_text` does; if it does not fit its column, as it was rescued.

    Args:
        column: the column.
        of: its type, as SQL.
        field: its name in files.
    """
    rescued = f.from_json("_rescued_data", "map<string,string>").getItem(field)
    return f.coalesce(key_text(column, of), f.trim(rescued))


def without_erased(
    rows: DataFrame, erasures: Erasures, persons: Sequence[Erased], fields: Mapping[str, str]
) -> DataFrame:
    """Return rows of which those of erased persons have no content.

    A record that cannot be read is a person's if all values of the key are words of it. One that the contract
    rejected was read: this was done before, by its columns.

    Args:
        rows: as they are appended to bronze.
        erasures: the erasures in the feed.
        persons: the erased persons; at least one.
        fields: the columns of the source, each with its name in files.
    """
    found = _with_erasure(rows, _by_words(erasures, persons), erasures, persons, fields)
    return emptied(found, f.col("_erasure"), list(fields)).select(*map(in_sql, rows.columns))


def of_others(rows: DataFrame, erasures: Erasures, persons: Sequence[Erased]) -> DataFrame:
    """Return the rows that are not of erased persons.

    Args:
        rows: rows with the columns of the keys.
        erasures: the erasures in the feed.
        persons: the erased persons; at least one.
    """
    found = _with_erasure(rows, f.lit(None).cast("string"), erasures, persons)
    return found.where("_erasure is null").select(*map(in_sql, rows.columns))


def emptied(rows: DataFrame, erasure: Column, contents: Sequence[str]) -> DataFrame:
    """Return rows of which those with an erasure have no content.

    Args:
        rows: rows of bronze.
        erasure: the id of the erasure; NULL for rows that stay.
        contents: the columns of the source.
    """
    stays = erasure.isNull()
    held = [name for name in (*contents, *CONTENT) if name in rows.columns]
    kept = {name: f.when(stays, f.col(in_sql(name))) for name in held}
    mark = f.concat(f.lit(tombstone("")), erasure)
    reason = f.when(stays, f.col("_corrupt_reason")).otherwise(REASON)
    return rows.withColumns(
        {**kept, "_corrupt_record": f.coalesce(mark, "_corrupt_record"), "_corrupt_reason": reason}
    )


def _with_erasure(
    rows: DataFrame,
    known: Column,
    erasures: Erasures,
    persons: Sequence[Erased],
    fields: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return rows with `_erasure`: what is known, else the id of the person by the columns of the key.

    With the names of the columns in files, a value that did not fit its column counts, too.
    """

    def text(column: str) -> Column:
        of = types[column]
        return key_text(column, of) if fields is None else whole_key_text(column, of, fields[column])

    found = erasures.hash.with_key_columns(rows).withColumn("_erasure", known)
    types = dict(rows.dtypes)
    for columns in sorted({person.columns for person in persons}):
        if not all(column in types for column in columns):
            continue
        hashes = [_hashed(erasures, column, text(column)) for column in columns]
        those = [(list(p.hashes), p.erasure_id) for p in persons if p.columns == columns]
        listed = local_rows(rows.sparkSession, "_hashes array<string>, _id string", those)
        found = (
            found.withColumn("_hashes", f.array(*hashes))
            .join(f.broadcast(listed), on="_hashes", how="left")
            .withColumn("_erasure", f.coalesce("_erasure", "_id"))
            .drop("_hashes", "_id")
        )
    return found


def _by_words(erasures: Erasures, persons: Sequence[Erased]) -> Column:
    """Return the id of the person whose key is in a record that cannot be read, or NULL."""
    words = f.split("_corrupt_record", SEPARATORS)
    columns = sorted({column for person in persons for column in person.columns})
    hashes = f.flatten(f.array(*(_hashed_words(erasures, column, words) for column in columns)))
    known = f.array(*(_listed(person) for person in persons))
    matches = f.filter(known, lambda person: f.size(f.array_except(person["hashes"], hashes)) == 0)
    is_unread = f.col("_corrupt_record").isNotNull() & ~f.startswith("_corrupt_reason", f.lit(AGAINST))
    return f.when(is_unread, f.get(matches, f.lit(0))["id"])


def _hashed_words(erasures: Erasures, column: str, words: Column) -> Column:
    return f.transform(words, lambda word: _hashed(erasures, column, word))


def _listed(person: Erased) -> Column:
    hashes = f.array(*map(f.lit, person.hashes))
    return f.struct(hashes.alias("hashes"), f.lit(person.erasure_id).alias("id"))


def _hashed(erasures: Erasures, column: str, text: Column) -> Column:
    return hashed(f.concat(f.lit(erasures.message_prefix(column)), text))
