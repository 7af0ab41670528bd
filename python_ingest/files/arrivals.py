"""Look for new files in the raw folders, without Spark and without locking the lake."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from python_ingest.feeds.declarations import Feed, FileFeed
from python_ingest.feeds.paths import COPIED, HIDDEN, matcher

SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def watched(feeds: Mapping[str, Feed]) -> list[FileFeed]:
    """Return the feeds with files in local folders; `s3a://…`, tables and topics are not watched."""
    files = [feed for feed in feeds.values() if isinstance(feed, FileFeed)]
    return [feed for feed in files if not SCHEME.match(feed.external.location)]


def fingerprints(feeds: Iterable[FileFeed], root: Path, now: float) -> dict[str, str]:
    """Return one fingerprint per feed that has files; it changes when a file is added, changed or removed.

    The fingerprint is computed from paths, sizes and times. It skips what landing skips: names that begin
    with `_` or `.`, unfinished copies, excluded files, and files that do not match the pattern or are younger
    than `settle`.

    Args:
        feeds: feeds of local folders.
        root: the project's folder; locations are relative to it.
        now: the current time, in seconds since 1970.
    """
    found = {}
    for feed in feeds:
        digest = hashlib.sha256()
        files = sorted(_files(feed, root / feed.external.location, now - feed.external.settle))
        for file in files:
            digest.update(repr(file).encode())
        if files:
            found[feed.name] = digest.hexdigest()
    return found


def _files(feed: FileFeed, location: Path, settled: float) -> Iterator[tuple[str, int, int]]:
    fits, excluded = matcher([feed.external.pattern]), matcher(feed.external.exclude)
    for folder, folders, names in os.walk(location):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        for name in names:
            file = Path(folder, name)
            path = file.relative_to(location).as_posix()
            if name.startswith(HIDDEN) or name.endswith(COPIED) or not fits.fullmatch(path):
                continue
            if excluded.fullmatch(path):
                continue
            try:
                facts = file.stat()
            except FileNotFoundError:  # it was deleted after it was listed
                continue
            if facts.st_mtime <= settled:
                yield path, facts.st_size, facts.st_mtime_ns
