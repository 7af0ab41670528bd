"""Which files a landing lists, and how it divides new files into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.feeds.external_files import FilesExternal
from python_ingest.files.storage import Storage
from python_ingest.ops.candidate import Candidate
from python_ingest.ops.ingested_files import IngestedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def files_to_list(
    storage: Storage, ingested_files: IngestedFiles, external: FilesExternal, now: datetime
) -> DataFrame:
    """Return the files that a landing lists: all, or under `modified_after` only late and open ones.

    Files that are left out are always listed, so that they are named.

    Args:
        storage: the location of the files.
        ingested_files: the record of landed files.
        external: the feed's declaration.
        now: the current time, UTC.
    """
    listing = storage.listing(now)
    newest = ingested_files.newest_time() if external.discovery == "modified_after" else None
    if newest is None:
        return listing
    is_late = f.col("modified_at") >= f.lit(newest - timedelta(seconds=external.overlap))
    marked = listing.join(ingested_files.open_paths(), on="path", how="left")
    return marked.where(is_late | f.col("is_open") | f.col("is_left_out")).drop("is_open")


def bounded(candidates: Sequence[Candidate], external: FilesExternal) -> Iterator[list[Candidate]]:
    """Divide candidates into batches of at most `max_files` and `max_bytes`; a file is never split."""
    batch: list[Candidate] = []
    size = 0
    for candidate in candidates:
        full = len(batch) == external.max_files or size + candidate.file.size > external.max_bytes
        if batch and full:
            yield batch
            batch, size = [], 0
        batch.append(candidate)
        size += candidate.file.size
    if batch:
        yield batch
