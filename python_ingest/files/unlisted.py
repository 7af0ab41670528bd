"""Local files that Hadoop's listing silently omits; the landing rejects them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass

from python_ingest.feeds.paths import HIDDEN


@dataclass(frozen=True)
class Unlisted:
    """A file that Hadoop does not list.

    Attributes:
        path: relative to the folder; bytes that are not text are written as `\\xe9`.
        size: bytes.
        modified_ms: time of the last modification, in milliseconds since 1970.
        reason: why it is not listed, and what to do.
    """

    path: str
    size: int
    modified_ms: int
    reason: str


def unlisted(root: str, encoding: str) -> Iterator[Unlisted]:
    """Yield the files that Hadoop omits from its listing of a local folder.

    Names that begin with `_` or `.` are skipped, and links to folders are not followed.

    Args:
        root: the folder.
        encoding: the encoding in which the JVM reads names, as Python names it.
    """
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = [*os.scandir(folder)]
        except OSError:
            continue  # Hadoop's listing reports the error
        is_text = _is_text(os.path.relpath(folder, root), encoding)
        for entry in entries:
            name = entry.name
            if name.startswith(HIDDEN):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            if not (is_text and (name.isascii() or _is_text(name, encoding))):
                yield _unlisted(entry, root, f"its path is not text in {encoding.upper()}: rename it")
            elif entry.is_symlink() and (reason := _broken_link(entry.path)):
                yield _unlisted(entry, root, reason)


def _unlisted(entry: os.DirEntry[str], root: str, reason: str) -> Unlisted:
    found = os.lstat(entry.path)
    path = os.fsencode(os.path.relpath(entry.path, root)).decode("utf-8", "backslashreplace")
    return Unlisted(path, found.st_size, int(found.st_mtime * 1000), reason)


def _is_text(path: str, encoding: str) -> bool:
    try:
        path.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _broken_link(path: str) -> str | None:
    try:
        os.stat(path)
    except OSError as error:
        leads = "to itself" if error.errno == errno.ELOOP else "to nothing"
        return f"a link that leads {leads}: correct or delete it"
    return None
