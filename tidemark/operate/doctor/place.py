"""Is the lake's folder usable: writable, with free space, and not held by another process?"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.filesize import decimal

from tidemark.lake.lock import holder
from tidemark.lake.metastore import METASTORE
from tidemark.lake.place import LAKE, is_remote, lake_folder, lake_location
from tidemark.operate.doctor.finding import Checked, Finding, error, note, skipped, warning
from tidemark.operate.doctor.leftovers import leftovers
from tidemark.operate.doctor.secrets import redacted
from tidemark.operate.doctor.subject import Subject

FREE = 0.1  # of the disk
REWRITES = 2  # the old and the new files of a table, while it is rebuilt or compacted
SECONDS = 5.0  # at most, to add up the sizes of tables
TABLES = ("warehouse/*", "iceberg/*")  # folders of schemas, whose folders are tables


def check_lake(subject: Subject) -> Checked:
    """Check the lake's folder, its lock, and what killed processes left."""
    if subject.root is None:
        return skipped("not looked at, outside of a project")
    folder = lake_folder()
    place = existing(folder)
    findings = [*_writable(folder, place)]
    if place.is_dir():
        findings += [*_space(folder, place), *_lock(folder)]
    findings += leftovers(subject.settings)
    free = f", {decimal(shutil.disk_usage(place).free)} free" if place.is_dir() else ""
    there = "" if folder.exists() else " (the first run creates it)"
    where = f"{redacted(lake_location())}, catalog and lock in {folder}" if is_remote() else str(folder)
    return Checked(f"{where}{there}{free}", tuple(findings))


def existing(folder: Path) -> Path:
    """Return a path, or the first folder above it that exists."""
    place = folder.absolute()
    return next(one for one in (place, *place.parents) if os.path.lexists(one))


def size_of(folder: Path, until: float) -> int:
    """Return the size of the files in a folder; after a time only of those that were found before.

    Args:
        folder: the folder.
        until: the end, by `time.monotonic()`.
    """
    size, folders = 0, [str(folder)]
    while folders and time.monotonic() < until:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue  # it was deleted meanwhile, or may not be read
    return size


def _writable(folder: Path, place: Path) -> Iterator[Finding]:
    fix = f"Choose another place with {LAKE}, or give the user who runs Tidemark the right to write there."
    if not place.is_dir():
        yield error(f"The lake cannot be in {folder}: {place} is not a folder.", fix)
        return
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as failure:
        what = "written" if place == folder.absolute() else f"created in {place}"
        yield error(f"The lake {folder} cannot be {what}: {failure.strerror}.", fix)


def _space(folder: Path, place: Path) -> Iterator[Finding]:
    disk = shutil.disk_usage(place)
    fix = "Free some space: `tidemark maintain` deletes old versions of tables."
    if disk.free < FREE * disk.total:
        message = f"{disk.free / disk.total:.0%} of the disk of {place} is free, {decimal(disk.free)}."
        yield warning(message, fix)
    until = time.monotonic() + SECONDS
    tables = [] if is_remote() else [table for glob in TABLES for table in folder.glob(f"{glob}/*")]
    largest = max(((size_of(table, until), table) for table in tables), default=None)
    if largest and disk.free < REWRITES * largest[0]:
        name = f"{largest[1].parent.name.removesuffix('.db')}.{largest[1].name}"
        message = f"{decimal(disk.free)} are free. A rebuild of {name}, {decimal(largest[0])}, may need "
        yield warning(f"{message}{decimal(REWRITES * largest[0])}.", fix)


def _lock(folder: Path) -> Iterator[Finding]:
    process = "" if os.environ.get(METASTORE, "").strip() else holder(folder)
    if process:
        message = f"The lake is held by {process}. Until it ends, other commands stop."
        yield note(message, f"Wait until it ends, or end it; share the catalog with {METASTORE} to run both.")
