"""Hash personal values on their way into bronze, for feeds with `hash_pii`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.feeds.declarations import Feed, FileFeed
from python_ingest.ops.rejected_records import NOT_KEPT
from tidemark.lake.keyed_hash import KeyedHash, hashed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PII_KEY = "TIDEMARK_PII_KEY"


def pii_hash(feed: Feed) -> KeyedHash:
    """Return the hash of a feed's personal values.

    Raises:
        TidemarkError: if the secret is missing.
    """
    return KeyedHash(PII_KEY, f"Feed '{feed.name}' with `hash_pii`")


def with_hashes(rows: DataFrame, feed: FileFeed) -> DataFrame:
    """Return rows with hashes in the place of personal values; NULL stays NULL.

    A record that could not be read is not kept, because it may have the values. Neither is rescued data with
    the field of such a column: a value that is not text, such as an object.

    Args:
        rows: as they are appended to bronze.
        feed: a feed with `hash_pii`.

    Raises:
        TidemarkError: if the secret is missing.
    """
    columns = [column for column in feed.columns if column.name in feed.external.pii]
    fields = f.array(*(f.lit(column.in_file.lower()) for column in columns))
    rescued = f.json_object_keys(f.lower("_rescued_data"))
    has_values = f.coalesce(f.arrays_overlap(rescued, fields), f.lit(False))
    values = {column.name: hashed(f.col(in_sql(column.name))) for column in columns}
    values["_rescued_data"] = f.when(~has_values, f.col("_rescued_data"))
    values["_corrupt_record"] = f.when(f.col("_corrupt_record").isNotNull(), f.lit(NOT_KEPT))
    return pii_hash(feed).with_key_columns(rows).withColumns(values).select(*map(in_sql, rows.columns))
