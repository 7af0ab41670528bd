"""Digests of files and folders, without their contents."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

CACHE = "__pycache__"


@dataclass(frozen=True)
class Tree:
    """A folder with all that is in it.

    Attributes:
        digest: of the names, kinds, sizes and times of its entries, and of where links lead.
        newest: the newest time of a file, in seconds since 1970.
    """

    digest: str
    newest: float


def tree(folder: Path) -> Tree:
    """Return what is in a folder, through links; a folder that is missing differs from an empty one."""
    newest, parts = 0.0, [f"{folder} {os.path.realpath(folder)} {os.path.isdir(folder)}"]
    for path, facts in entries(folder):
        what: list[str | int] = [path]
        if facts is not None:  # of what a link leads to: another inode is another target
            what += [facts.st_mode, facts.st_dev, facts.st_ino]
        if facts is not None and S_ISREG(facts.st_mode):  # a folder's times say no more than its entries
            what += [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
            newest = max(newest, facts.st_mtime)
        parts.append(repr(what))
    return Tree(digest_of(sorted(parts)), newest)


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield all files and folders below a folder, with the facts of what they lead to; None if unknown.

    A folder that links lead to more than once is listed once.
    """
    for inside, folders, names in _walk(folder):
        paths = [os.path.join(inside, name) for name in (*folders, *names)]
        yield from ((path, _facts(path)) for path in paths)


def times_of_folders(folder: Path) -> str:
    """Return a digest of a folder and those below it: each entry that comes or goes changes a time."""
    return times(sorted(inside for inside, *_ in _walk(folder)))


def times(paths: Iterable[str]) -> str:
    """Return a digest of the times of single files or folders; a missing one differs from any other."""
    found = ((path, os.path.realpath(path), _facts(path)) for path in paths)
    return digest_of(repr((path, real, facts and facts.st_mtime_ns)) for path, real, facts in found)


def digest_of(parts: Iterable[str]) -> str:
    """Return a digest of texts, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    seen: set[str] = set()
    for inside, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(inside)
        if real in seen:
            folders[:] = []
            continue
        seen.add(real)
        folders[:] = [name for name in folders if name != CACHE]
        yield inside, folders, names


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # gone, a link to nothing, or not for us
        return None
