"""`tidemark replay-rejected`: land rejected files and records again."""

from __future__ import annotations

from python_ingest.feeds.declarations import choose
from python_ingest.land import LandingOptions
from tidemark.cli import landing
from tidemark.cli.opening import opened
from tidemark.cli.options import Feeds
from tidemark.engine.project.session import warm_session


def replay_rejected(feeds: Feeds = None) -> None:
    """Land rejected files and records again, after a fix."""
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    spark = warm_session(lakehouse.root)
    invalid = lakehouse.invalid_among(feeds or [])
    landing.land(spark, lakehouse, [*chosen, *invalid], options=LandingOptions(replays=True))
