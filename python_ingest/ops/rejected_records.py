"""Records that could not be read: the table `ops.rejected_records`, from which they can be replayed.

Bronze also has each of them, as a row with `_corrupt_record`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.feeds.declarations import FileFeed
from python_ingest.ops.batch import Batch
from python_ingest.ops.erasures import REASON
from python_ingest.ops.feed_table import WRITING, FeedTable
from tidemark.base.errors import LandingError
from tidemark.lake.table_format import append_once, table_exists
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    path string comment 'The file, relative to the location of the feed',
    raw_record string comment 'The record as it was read; correct it here, then `tidemark replay-rejected`',
    reason string comment 'Why it could not be read',
    fields array<string> comment 'The columns of its file by position; empty where records name them',
    source_modified_at timestamp comment 'When the file was last modified',
    batch_id bigint comment 'Its landing batch, and',
    row_id bigint comment 'its row in it: _batch_id and _row_number in bronze',
    rejected_at timestamp comment 'When the batch was planned',
    replayed_batch bigint comment 'The batch in which it landed after all; null until then'
"""
# the key of a record; and where it is parsed again, beside columns of its feed, which may have any name
REJECTED = {"batch_id": "__tidemark_batch", "row_id": "__tidemark_row"}
MAX_CHARACTERS_SHOWN = 200  # characters of a record in a message
NOT_KEPT = "not kept: the feed hashes personal values"  # in the place of a record


class Quarantine(FeedTable):
    """The rejected records of one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
        names_fields: whether a record can be read only with the columns of its file.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str, *, names_fields: bool = True) -> None:
        super().__init__(spark, schema, feed, "rejected_records", COLUMNS)
        self._is_kept = "fields is not null" if names_fields else f"reason <> '{REASON}'"

    def keep(
        self, rows: DataFrame, batch: Batch, table_id: str, fields: Mapping[str, Sequence[str] | None]
    ) -> int:
        """Add a batch's broken records, once; return how many of them are rows of erased persons.

        Args:
            rows: the batch's rows in bronze.
            batch: the batch.
            table_id: the id of the bronze table, since batch numbers belong to one table.
            fields: by path, the columns of the file by position; None if they are no longer known.
        """
        self._create()
        named = [(path, list(names) if names is not None else None) for path, names in fields.items()]
        names = local_rows(self._spark, "path string, fields array<string>", named)
        broken = rows.where("_corrupt_record is not null").select(
            f.lit(self._feed).alias("feed"),
            f.col("_source_file").alias("path"),
            f.col("_corrupt_record").alias("raw_record"),
            f.col("_corrupt_reason").alias("reason"),
            f.col("_source_modified_at").alias("source_modified_at"),
            f.col("_batch_id").alias("batch_id"),
            f.col("_row_number").alias("row_id"),
            f.col("_ingested_at").alias("rejected_at"),
            f.lit(None).cast("bigint").alias("replayed_batch"),
        )
        is_erased = f.col("reason") == REASON
        described = broken.join(f.broadcast(names), on="path", how="left")
        is_whole = ~is_erased & (f.col("raw_record") != NOT_KEPT)  # else there is nothing to replay
        described = described.withColumn("fields", f.when(is_whole, f.col("fields")))
        writer = f"tidemark.reject.{self._feed}.{table_id}"
        with WRITING:
            rows_of_table = described.select(self._spark.table(self._table).columns)
            append_once(rows_of_table, self._table, writer, batch.batch_id)
        return broken.where(is_erased).count()

    def records(self, replayed_batch: int | None) -> DataFrame | None:
        """Return the records that were replayed in a batch; for None, those not replayed yet.

        Returns:
            The records, or None if there are none. Records whose columns are not known are left out.
        """
        if not table_exists(self._spark, self._table):
            return None
        batch = "null" if replayed_batch is None else str(replayed_batch)
        found = self._rows().where(f"replayed_batch <=> {batch} and {self._is_kept}")
        return None if found.isEmpty() else found

    def mark(self, keys: Sequence[tuple[int, int]], batch: Batch) -> None:
        """Mark records (`batch_id`, `row_id`) as replayed in a batch."""
        frame = local_rows(self._spark, "batch_id bigint, row_id bigint", keys)
        with WRITING:
            frame.createOrReplaceTempView("_tidemark_replayed")
            self._spark.sql(
                f"merge into {self._table} as rejected using _tidemark_replayed as replayed "
                f"on rejected.feed = '{self._feed}' and rejected.batch_id = replayed.batch_id "
                "and rejected.row_id = replayed.row_id "
                f"when matched then update set replayed_batch = {batch.batch_id}"
            )
            self._spark.catalog.dropTempView("_tidemark_replayed")

    def unmark(self, batch: Batch) -> None:
        """Remove the marks of a batch that did not land."""
        if self.records(batch.batch_id) is not None:
            with WRITING:
                self._spark.sql(
                    f"update {self._table} set replayed_batch = null "
                    f"where feed = '{self._feed}' and replayed_batch = {batch.batch_id}"
                )


def check_broken_records(feed: FileFeed, rows: DataFrame) -> None:
    """Stop a batch with more broken records than its feed allows; if there is a limit, this reads the rows.

    Args:
        feed: the feed.
        rows: the batch's rows as bronze would have them.

    Raises:
        LandingError: if there are too many; the message shows the first broken record.
    """
    most, share = feed.external.max_rejected_records, feed.external.max_rejected_share
    if most is None and share is None:
        return
    is_broken = f.col("_corrupt_reason").isNotNull()
    shown = f.struct(
        "_source_file",
        "_row_number",
        "_corrupt_reason",
        f.substring("_corrupt_record", 1, MAX_CHARACTERS_SHOWN),
    )
    counts: Any = rows.select(
        f.count("*").alias("all"),
        f.count_if(is_broken).alias("broken"),
        f.min(f.when(is_broken, shown)).alias("first"),
    ).first()
    number, broken = counts["all"], counts["broken"]
    if (most is None or broken <= most) and (share is None or broken <= share * number):
        return
    path, _, reason, record = counts["first"]
    record = NOT_KEPT if feed.external.hash_pii else record
    bounds = [f"max_rejected_records: {most}"] * (most is not None) + [f"max_rejected_share: {share}"] * (
        share is not None
    )
    raise LandingError(
        f"Feed '{feed.name}': {broken:,} of {number:,} records cannot be read, so none of them landed "
        f"({', '.join(bounds)}). The first, in {path}: {reason}: {record!r}.",
        f"Fix the files or the feed's options in {feed.declared_in}, or raise the limit.",
    )
