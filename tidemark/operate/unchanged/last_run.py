"""The last run that changed nothing: remembered at its end, compared at the start of the next.

What a run saw before it began is what it read, since the digests are taken before the project is parsed and
before the feeds are listed. What comes later differs from them. A run that changed the lake is not
remembered, so one more run has to find that there is nothing left to do. Whatever fails here costs a run, and
no more.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from python_ingest.feeds.declarations import Feed
from python_ingest.files.arrivals import watched
from tidemark.base.clock import utc_now
from tidemark.base.interrupts import end_spark
from tidemark.base.output import Note
from tidemark.engine.dbt_core.profiles import profiles_folder
from tidemark.engine.dbt_core.texts import output_folders
from tidemark.engine.runs.lineage.sending import is_on
from tidemark.lake.lock import PRIVATE
from tidemark.lake.metastore import metastore, rest_catalog
from tidemark.lake.place import is_remote, lake_folder
from tidemark.operate.unchanged import evidence
from tidemark.operate.unchanged.files import digest_of, times, tree
from tidemark.operate.unchanged.obstacles import is_elsewhere, obstacles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = f"{evidence.RECORD}.json"
ARTIFACTS = ("manifest.json", "run_results.json")


@dataclass(frozen=True)
class LastRun:
    """A run that changed nothing.

    Attributes:
        digest: of all that it read.
        at: when it ended (UTC).
        folders: the locations of its feeds.
        artifacts: dbt's files about the run.
        counts: the number of feeds, tables and tests.
        notes: the notes that it printed: event, message and facts of each.
    """

    digest: str
    at: str
    folders: list[str]
    artifacts: list[str]
    counts: dict[str, int]
    notes: list[Note]


@dataclass(frozen=True)
class Before:
    """What a run saw before it landed anything.

    Attributes:
        folders: the locations of its feeds.
        files: a digest of the files there.
        tables: a digest of the lake's tables.
    """

    folders: list[str]
    files: str
    tables: str


class Watch:
    """Compares a run with the last one, and remembers it if it changed nothing.

    Args:
        root: the project's folder.
        request: the options of the run.
    """

    def __init__(self, root: Path, request: Mapping[str, object]) -> None:
        self._root = root
        self._lake = lake_folder().absolute()
        self._file = self._lake / FILE
        self._code, self._settings = evidence.Code("", frozenset(), is_known=False), ""
        self._before: Before | None = None
        with suppress(Exception):
            if not (is_remote() or metastore() or rest_catalog() or is_on()):
                code = evidence.project_code(root, profiles_folder(root))
                # taken now, since Spark and dbt add variables later
                self._settings = evidence.settings(root, request, code.names, os.environ)
                self._code = code

    def repeats(self) -> LastRun | None:
        """Return the last run if this one would repeat it; None if it may differ or none is there."""
        with suppress(Exception):  # no record, one of another version, or half of one
            last = LastRun(**json.loads(self._file.read_text("utf-8")))
            seen = Before(last.folders, _files(last.folders), evidence.tables(self._lake))
            if self._code.is_known and self._digest(seen, last.artifacts) == last.digest:
                return last
        return None

    def begin(self, spark: SparkSession, feeds: Sequence[Feed]) -> None:
        """Forget the last run, and look at the files and the tables; the lake is locked.

        Args:
            spark: the session of the run.
            feeds: the feeds that will be landed.
        """
        with suppress(Exception):
            self._file.unlink(missing_ok=True)
            local, now = watched({feed.name: feed for feed in feeds}), time.time()
            if len(local) < len(feeds) or is_elsewhere(spark, self._lake):
                return
            folders = [str(self._root / feed.external.location) for feed in local]
            seen = [tree(Path(folder)) for folder in folders]
            # a file that is younger than `settle`, or of a time to come, will be landed later
            ages = zip(seen, local, strict=True)
            if all(found.newest <= now - feed.external.settle for found, feed in ages):
                files = digest_of(found.digest for found in seen)
                self._before = Before(folders, files, evidence.tables(self._lake))

    def end(
        self,
        manifest: Any,
        nodes: Sequence[Any],
        selection: Sequence[str],
        counts: dict[str, int],
        notes: Sequence[Note],
    ) -> None:
        """Remember the run if it changed nothing and can be compared: `keep` then writes it.

        Args:
            manifest: dbt's manifest.
            nodes: the nodes that were built or tested.
            selection: dbt's selectors.
            counts: the number of feeds, tables and tests.
            notes: the notes that the run printed.
        """
        with suppress(Exception):
            before = self._before
            if before is None or not self._code.is_known or before.tables != evidence.tables(self._lake):
                return
            if next(obstacles(manifest, nodes, selection, self._lake), None) is None:
                artifacts = [str(output_folders(self._root)[0] / name) for name in ARTIFACTS]
                at = utc_now().isoformat(timespec="seconds")
                _pending[:] = [(self, before, LastRun("", at, before.folders, artifacts, counts, [*notes]))]

    def keep(self, before: Before, last: LastRun) -> None:
        """Write a run down, once Spark has ended and the catalog is at rest.

        Args:
            before: what it saw before it landed anything.
            last: the run.
        """
        record = asdict(replace(last, digest=self._digest(before, last.artifacts)))
        new = self._file.with_suffix(".new")
        new.touch(mode=PRIVATE)
        new.write_text(json.dumps(record, default=str), encoding="utf-8")
        new.replace(self._file)

    def _digest(self, seen: Before, artifacts: Sequence[str]) -> str:
        of_lake = (seen.tables, evidence.catalog(self._lake))
        return digest_of([self._code.digest, self._settings, seen.files, *of_lake, times(artifacts)])


def _files(folders: Sequence[str]) -> str:
    return digest_of(tree(Path(folder)).digest for folder in folders)


_pending: list[tuple[Watch, Before, LastRun]] = []


def keep() -> None:
    """Write down the run of this process, if it is to be remembered; Spark ends before."""
    for watch, before, last in _pending:
        end_spark()
        with suppress(Exception):
            watch.keep(before, last)
    _pending.clear()
