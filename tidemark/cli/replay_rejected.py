"""`tidemark replay-rejected`: land rejected files, records and messages again."""

from __future__ import annotations

from python_ingest.feeds.declarations import TableFeed, choose
from python_ingest.land_one import LandingOptions
from tidemark.base.errors import LandingError
from tidemark.cli import landing
from tidemark.cli.opening import opened
from tidemark.cli.options import Feeds
from tidemark.engine.project.session import warm_session


def replay_rejected(feeds: Feeds = None) -> None:
    """Land rejected files, records and messages again, after a fix."""
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    others = [feed.name for feed in chosen if isinstance(feed, TableFeed)]
    if feeds and others:
        raise LandingError(
            f"No rows of {', '.join(others)} are rejected: the feed reads a database's table.",
            "Name only feeds of files and topics.",
        )
    spark = warm_session(lakehouse.root)
    invalid = lakehouse.invalid_among(feeds or [])
    landing.land(spark, lakehouse, [*chosen, *invalid], options=LandingOptions(replays=True))
