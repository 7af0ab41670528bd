"""The columns of a bronze table that record where a row came from."""

from __future__ import annotations

from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed

METADATA = (
    "_rescued_data string",
    "_corrupt_record string",
    "_corrupt_reason string",
    "_source_file string",  # for a table its name, for a topic `topic/partition`
    "_source_modified_at timestamp",  # when a table was read, or when a message was written
    "_row_number bigint",
    "_batch_id bigint",
    "_ingested_at timestamp",
)
OF_TABLES = ("_is_deleted boolean",)
OF_RETRACTED = (
    "_is_deleted boolean",
    "_first_batch_id bigint",  # of a row that lands again, because another file with its key is gone
)
OF_TOPICS = ("_message_partition int", "_message_offset bigint", "_message_key binary")


def metadata_of(feed: Feed) -> tuple[str, ...]:
    """Return the metadata columns of a feed's bronze table, as SQL."""
    if isinstance(feed, TableFeed):
        return (*METADATA, *OF_TABLES)
    if isinstance(feed, FileFeed) and feed.external.retracts:
        return (*METADATA, *OF_RETRACTED)
    if isinstance(feed, TopicFeed):
        return (*METADATA, *OF_TOPICS)
    return METADATA
