"""The demo's lake in a local folder."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tidemark.base.errors import TidemarkError
from tidemark.lake.lock import LOCK
from tidemark.lake.place import lake_folder

MARK = ".demo"  # written after each step; newer files were not written by the demo
CATALOGS = ("metastore", "catalog.db")  # also written by commands that only read


class LocalLake:
    """Copies raw files into the lake, and deletes a lake that the demo made."""

    def __init__(self) -> None:
        self._folder = lake_folder()

    def check(self) -> None:
        """Refuse a lake with files that the demo did not write, because the demo deletes all files there.

        Raises:
            TidemarkError: when a file is not from the demo, or has changed since the demo wrote it.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        mark = self._folder / MARK
        ours = (LOCK, MARK, *CATALOGS)
        entries = [entry for entry in self._folder.iterdir() if not entry.name.startswith(ours)]
        entries += [inner for entry in entries for inner in entry.rglob("*")]
        if mark.exists():
            until = mark.stat().st_ctime_ns
            others = [entry for entry in entries if entry.lstat().st_ctime_ns > until]
        else:
            others = [entry for entry in entries if not entry.is_dir()]
        if others:
            raise TidemarkError(
                f"The lake '{self._folder}' has files that the demo did not make and would delete.",
                f"Use another lake: `TIDEMARK_LAKE={shlex.quote(f'{self._folder}-demo')} make demo`. "
                f"Or delete this one first: `rm -r {shlex.quote(str(self._folder))}`.",
            )

    def clear(self) -> None:
        """Delete all files of the lake."""
        for entry in self._folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            elif entry.name != LOCK:
                entry.unlink()

    def copy(self, file: Path, folder: str) -> None:
        """Copy a file into a folder of the lake."""
        shutil.copy2(file, self._folder / folder)

    def make_folder(self, folder: str) -> None:
        """Make a folder of the lake."""
        (self._folder / folder).mkdir(parents=True)

    def mark(self) -> None:
        """Mark all present files as the demo's."""
        (self._folder / MARK).touch()
