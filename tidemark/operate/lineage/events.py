"""Events of landings: what a feed landed, in OpenLineage's terms."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

from openlineage.client.event_v2 import InputDataset, RunEvent
from openlineage.client.naming.dataset import Kafka, Postgres

from python_ingest.feeds.declarations import Feed, TableFeed, TopicFeed
from tidemark.base.connections import connection
from tidemark.engine.runs.lineage.datasets import Name, Tables, name_of
from tidemark.engine.runs.lineage.events import Done, events_of, facets_of_job


def source_of(feed: Feed) -> Name:
    """Return namespace and name of what a feed lands: a folder, a table, a query's database, or a topic."""
    if isinstance(feed, TopicFeed):
        first = connection(feed.external.connection, "kafka").hosts.split(",")[0]
        host, _, port = first.rpartition(":")
        topic = Kafka(host or first, port or "9092", feed.external.topic)
        return topic.get_namespace(), topic.get_name()
    if isinstance(feed, TableFeed):
        server = connection(feed.external.connection, "postgresql")
        host, _, port = server.hosts.split(",")[0].rpartition(":")
        schema, _, table = (feed.external.table or f"query.{feed.name}").rpartition(".")
        named = Postgres(host or port, port if host else "5432", server.database, schema or "public", table)
        return named.get_namespace(), named.get_name()
    return name_of(str(feed.external.location))  # type: ignore[union-attr]


def landing_events(
    project: str, feed: Feed, done: Done, tables: Tables, rows: int | None
) -> Iterator[RunEvent]:
    """Yield the events of the landing of one feed.

    Args:
        project: the project's name.
        feed: the feed.
        done: when it landed, and its error; without inputs and outputs.
        tables: the tables of the lake.
        rows: the number of rows that landed; None if it failed.
    """
    namespace, name = source_of(feed)
    columns = {column.name: (column.data_type, column.description) for column in feed.columns}
    done.inputs.append(InputDataset(namespace=namespace, name=name))
    done.outputs.append(tables.written(feed.table, columns, None if rows is None else {"rowCount": rows}))
    facets = facets_of_job("LANDING", feed.declared_in)
    yield from events_of(str(uuid4()), f"{project}.land.{feed.name}", facets, {}, done)
