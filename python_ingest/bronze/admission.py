"""What rows of a feed may bring into bronze: hashes of personal values, and nothing of erased persons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from python_ingest.bronze.pseudonyms import pii_hash, with_hashes
from python_ingest.bronze.suppression import of_others, without_erased
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed
from python_ingest.ops.erasures import Erased, Erasures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Admission:
    """The last look at rows before they are written to a feed's bronze table.

    Args:
        spark: the session.
        feed: the feed.
        ops_schema: the schema of `ops.erasures`; None to let all persons in.
    """

    def __init__(self, spark: SparkSession, feed: Feed, ops_schema: str | None) -> None:
        self._erasures = Erasures(spark, ops_schema, feed.name) if ops_schema else None
        self._hashing = feed if isinstance(feed, FileFeed) and feed.external.hash_pii else None
        self._fields = {column.name: column.in_file for column in feed.columns}
        self._keeps_places = not isinstance(feed, TableFeed)

    def check(self) -> None:
        """Stop a landing before it plans anything if a secret is missing.

        Raises:
            TidemarkError: in this case, or if it is not the secret of the earlier erasures.
        """
        if self._hashing:
            pii_hash(self._hashing)
        _ = self._persons

    def admitted(self, rows: DataFrame, contents: Sequence[str]) -> DataFrame:
        """Return rows as bronze may have them: rows of erased persons without their content.

        Of a table, such rows are left out before, by `of_others`: there is no place to keep.

        Args:
            rows: rows with all columns of bronze.
            contents: the columns of the source.
        """
        if self._hashing:
            rows = with_hashes(rows, self._hashing)
        if self._persons and self._erasures and self._keeps_places:
            fields = {name: self._fields.get(name, name) for name in contents}
            rows = without_erased(rows, self._erasures, self._persons, fields)
        return rows

    def of_others(self, rows: DataFrame) -> DataFrame:
        """Return the rows of a table that are not of erased persons."""
        if self._persons and self._erasures:
            return of_others(rows, self._erasures, self._persons)
        return rows

    @cached_property
    def _persons(self) -> list[Erased]:
        return self._erasures.erased() if self._erasures else []
