"""`tidemark replay-rejected`: land rejected files and records again."""

from __future__ import annotations

from python_ingest.feeds.declarations import FileFeed, choose
from python_ingest.land import LandingOptions
from tidemark.base.errors import LandingError
from tidemark.cli import landing
from tidemark.cli.opening import opened
from tidemark.cli.options import Feeds
from tidemark.engine.project.session import warm_session


def replay_rejected(feeds: Feeds = None) -> None:
    """Land rejected files and records again, after a fix."""
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    others = [feed.name for feed in chosen if not isinstance(feed, FileFeed)]
    if feeds and others:
        raise LandingError(
            f"Only what feeds of files rejected can land again; {', '.join(others)} is no such feed.",
            "Correct the rows or messages at their source: they land as new ones.",
        )
    spark = warm_session(lakehouse.root)
    invalid = lakehouse.invalid_among(feeds or [])
    landing.land(spark, lakehouse, [*chosen, *invalid], options=LandingOptions(replays=True))
