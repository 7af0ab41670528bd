"""The last run that changed nothing: remembered at its end, compared at the start of the next.

At its end: what a run saw before it began is what it read, since the digests are taken before the project is
parsed and before the feeds are listed. A file that comes later differs from them. A run that changed the lake
is not remembered, so one more run has to find that there is nothing left to do.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from python_ingest.feeds.declarations import Feed
from python_ingest.files.arrivals import fingerprints, watched
from tidemark.base.clock import utc_now
from tidemark.base.interrupts import end_spark
from tidemark.engine.dbt_core.profiles import profiles_folder
from tidemark.engine.dbt_core.texts import output_folders
from tidemark.engine.runs.lineage.sending import is_on
from tidemark.lake.lock import PRIVATE
from tidemark.lake.metastore import metastore, rest_catalog
from tidemark.lake.place import is_remote, lake_folder
from tidemark.operate.unchanged import evidence
from tidemark.operate.unchanged.obstacles import obstacles

FILE = ".last_run.json"
FOREVER = float("inf")
ARTIFACTS = ("manifest.json", "run_results.json")


@dataclass(frozen=True)
class LastRun:
    """A run that changed nothing.

    Attributes:
        digest: of all that it read.
        at: when it ended (UTC).
        folders: the folders of its feeds.
        artifacts: dbt's files about the run.
        counts: the number of feeds, tables and tests.
        notes: the notes that it printed: an event and a message each.
    """

    digest: str
    at: str
    folders: list[str]
    artifacts: list[str]
    counts: dict[str, int]
    notes: list[tuple[str, str]] = field(default_factory=list)


class Watch:
    """Compares a run with the last one, and remembers it if it changed nothing.

    Args:
        root: the project's folder.
        request: the options of the run.
    """

    def __init__(self, root: Path, request: Mapping[str, object]) -> None:
        self._root = root
        self._lake = lake_folder().resolve()
        self._file = self._lake / FILE
        self._is_local = not (is_remote() or metastore() or rest_catalog() or is_on())
        self._code = evidence.project_code(root, profiles_folder(root))
        # Spark and dbt add variables later
        self._settings = evidence.settings(request, self._code.names, os.environ)
        self._before: tuple[str, str] | None = None
        self._folders: list[str] = []

    def repeats(self) -> LastRun | None:
        """Return the last run if this one would repeat it; None if it may differ or none is there."""
        if not self._is_local or not self._file.is_file():
            return None
        try:
            last = LastRun(**json.loads(self._file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):  # of another version, or half written
            return None
        files = evidence.feed_files(map(Path, last.folders))
        return last if self._digest(files, last.artifacts) == last.digest else None

    def begin(self, feeds: Sequence[Feed]) -> None:
        """Forget the last run, and look at the files and the lake; the lake is locked.

        Args:
            feeds: the feeds that will be landed.
        """
        self._file.unlink(missing_ok=True)
        root = self._root
        local = watched({feed.name: feed for feed in feeds})
        all_settled = fingerprints(local, root, time.time()) == fingerprints(local, root, FOREVER)
        if self._is_local and len(local) == len(feeds) and all_settled:
            self._folders = [str((root / feed.external.location).resolve()) for feed in local]
            self._before = evidence.feed_files(map(Path, self._folders)), evidence.lake_folders(self._lake)

    def end(
        self,
        manifest: Any,
        nodes: Iterable[Any],
        selection: Sequence[str],
        counts: dict[str, int],
        notes: list[tuple[str, str]],
    ) -> None:
        """Remember the run if it changed nothing and can be compared: `keep` then writes it.

        Args:
            manifest: dbt's manifest.
            nodes: the nodes that were built or tested.
            selection: dbt's selectors.
            counts: the number of feeds, tables and tests.
            notes: the notes that the run printed: an event and a message each.
        """
        if self._before is None or self._before[1] != evidence.lake_folders(self._lake):
            return
        if not self._code.is_known:
            return
        if next(obstacles(manifest, nodes, selection, self._lake), None) is not None:
            return
        target, _ = output_folders(self._root)
        artifacts = [str(target / name) for name in ARTIFACTS]
        at = utc_now().isoformat(timespec="seconds")
        _pending.append((self, LastRun("", at, self._folders, artifacts, counts, notes)))

    def keep(self, last: LastRun) -> None:
        """Write a run down, once Spark has ended and the catalog is at rest."""
        files = self._before[0] if self._before else ""
        digest = self._digest(files, last.artifacts)
        new = self._file.with_suffix(".new")
        new.touch(mode=PRIVATE)
        new.write_text(json.dumps(asdict(replace(last, digest=digest))), encoding="utf-8")
        new.replace(self._file)

    def _digest(self, files: str, artifacts: Iterable[str]) -> str:
        return evidence.digest_of(
            [
                self._code.digest,
                self._settings,
                files,
                evidence.lake_folders(self._lake),
                evidence.catalog(self._lake),
                evidence.times(artifacts),
            ]
        )


_pending: list[tuple[Watch, LastRun]] = []


def keep() -> None:
    """Write down the run of this process, if it is to be remembered; Spark ends before."""
    for watch, last in _pending:
        end_spark()
        watch.keep(last)
    _pending.clear()
