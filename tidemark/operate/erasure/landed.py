"""Take the content of a person's rows out of bronze and out of the rejected records; their places stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.bronze.metadata import metadata_of
from python_ingest.bronze.suppression import CONTENT, whole_key_text
from python_ingest.feeds.declarations import TableFeed, TopicFeed
from python_ingest.ops.erasures import REASON, tombstone
from tidemark.lake.cached_view import create_cached_view, drop_cached_view
from tidemark.lake.table_format import table_exists
from tidemark.operate.erasure.person import Person, matches_person

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KEY = "_message_key"
PLACES = "_tidemark_places"  # a view of rows by batch and number


class Landed:
    """The rows and rejected records of a person.

    Args:
        spark: the session.
        person: the person.
        ops_schema: the schema of the state tables.
    """

    def __init__(self, spark: SparkSession, person: Person, ops_schema: str) -> None:
        self.spark, self.person = spark, person
        self.bronze = person.feed.table
        self.rejected = f"{ops_schema}.rejected_records"
        self.batches = f"{ops_schema}.ingested_batches"

    def rows(self) -> DataFrame:
        """Return the person's rows in bronze, also those of records that could not be read.

        A message without a value is theirs if all other messages with its key are.
        """
        rows = self.spark.table(self.bronze)
        names = {column: column for column in self.person.key}
        types = dict(rows.dtypes)
        matches = matches_person(self.person, types, names) | self._has_rescued_key(types)
        is_open = f.col("_corrupt_reason").isNull() | (f.col("_corrupt_reason") != REASON)
        matches = is_open & (matches | self.person.has_words(f.col("_corrupt_record")))
        joined = self._with_key_columns(rows)
        if isinstance(self.person.feed, TopicFeed):
            values = [f.col(in_sql(name)) for name in self._contents(rows) if name != KEY]
            is_empty = f.coalesce(*(value.cast("string") for value in values), "_corrupt_record").isNull()
            with_value = joined.where(~is_empty & f.col(KEY).isNotNull()).groupBy(KEY)
            own = with_value.agg(f.bool_and(matches).alias("_is_own")).where("_is_own")
            joined = joined.join(own, on=KEY, how="left")
            matches |= is_open & is_empty & f.coalesce("_is_own", f.lit(False))
        return joined.where(matches).select(*map(in_sql, rows.columns))

    def _has_rescued_key(self, types: Mapping[str, str]) -> Column:
        """Return whether a row has the key, of which a value did not fit its column."""
        fields = {column.name: column.in_file for column in self.person.feed.columns}
        same = f.col("_rescued_data").isNotNull()
        for position, column in enumerate(self.person.key):
            value = whole_key_text(column, types[column], fields.get(column, column))
            same &= value == f.col(f"_key_{position}")
        return f.coalesce(same, f.lit(False))

    def records(self) -> DataFrame | None:
        """Return the person's rejected records (`batch_id`, `row_id`), or None without the table."""
        if not table_exists(self.spark, self.rejected):
            return None
        records = self.spark.table(self.rejected)
        is_open = (f.col("feed") == self.person.feed.name) & (f.col("reason") != REASON)
        matches = self._with_key_columns(records.where(is_open)).where(
            self.person.has_words(f.col("raw_record"))
        )
        return matches.select("batch_id", "row_id", "path")

    def marks(self) -> DataFrame | None:
        """Return the states of a table's landing, but for the present one, whose mark has the key.

        Returns:
            `feed` and `_sequence`; None for a feed of another kind.
        """
        if not isinstance(self.person.feed, TableFeed):
            return None
        states = self.spark.table(self.batches).where(f.col("feed") == self.person.feed.name)
        newest: Any = states.where("state in ('landed', 'checked')").agg(f.max("_sequence")).first()
        earlier = self._with_key_columns(states.where(f.col("_sequence") != f.lit(newest[0])))
        return earlier.where(self.person.has_words(f.col("mark"))).select("feed", "_sequence")

    def erase_marks(self) -> int:
        """Take the marks out of these states; return their number."""
        marks = self.marks()
        number = marks.count() if marks is not None else 0
        if marks is not None and number:
            same = "present.feed = place.feed and present._sequence = place._sequence"
            update_places(self.batches, marks, same, {"mark": "null"})
        return number

    def erased(self) -> DataFrame:
        """Return the rows in bronze that have lost their content."""
        mark = tombstone(self.person.erased.erasure_id)
        return self.spark.table(self.bronze).where(f.col("_corrupt_record") == mark)

    def files(self) -> list[str]:
        """Return the files from which the person's rows came, also those that are erased already."""
        found = self.rows().select("_source_file").union(self.erased().select("_source_file"))
        return sorted(row[0] for row in found.distinct().collect())

    def erase_records(self) -> int:
        """Take the content out of the rejected records; return their number."""
        records = self.records()
        number = records.count() if records is not None else 0
        if records is not None and number:
            update_places(
                self.rejected,
                records.select(f.col("batch_id"), f.col("row_id")),
                "present.batch_id = place.batch_id and present.row_id = place.row_id "
                f"and present.feed = '{self.person.feed.name}'",
                {"raw_record": self._mark, "reason": f"'{REASON}'", "fields": "null"},
            )
        return number

    def erase_rows(self) -> int:
        """Take the content out of the rows in bronze, in one commit; return their number."""
        rows = self.rows()
        number = rows.count()
        if number:
            update_places(
                self.bronze,
                rows.select("_batch_id", "_row_number"),
                "present._batch_id = place._batch_id and present._row_number = place._row_number",
                {
                    **{in_sql(name): "null" for name in self._contents(rows)},
                    "_corrupt_record": self._mark,
                    "_corrupt_reason": f"'{REASON}'",
                },
            )
        return number

    def _contents(self, rows: DataFrame) -> list[str]:
        """Return the columns that hold what came from the source."""
        metadata = {column.split()[0] for column in metadata_of(self.person.feed)}
        return [name for name in rows.columns if name in CONTENT or name not in metadata]

    @property
    def _mark(self) -> str:
        return f"'{tombstone(self.person.erased.erasure_id)}'"

    def _with_key_columns(self, rows: DataFrame) -> DataFrame:
        return rows.crossJoin(f.broadcast(self.person.view(self.spark)))


def update_places(table: str, places: DataFrame, same: str, values: dict[str, str]) -> None:
    """Set columns of the rows that some places name, in one commit that does not hold what names them.

    Args:
        table: `schema.name`.
        places: what names the rows; no row twice.
        same: SQL that joins `present`, the table, to `place`.
        values: SQL by column of the table.
    """
    spark = places.sparkSession
    create_cached_view(places, PLACES)
    sets = ", ".join(f"{name} = {value}" for name, value in values.items())
    try:
        spark.sql(
            f"merge into {table} as present using {PLACES} as place on {same} "
            f"when matched then update set {sets}"
        )
    finally:
        drop_cached_view(spark, PLACES)
