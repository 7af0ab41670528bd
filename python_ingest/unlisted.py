"""Files of a local folder that Hadoop's listing leaves out without a word: landing sets them aside."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass

HIDDEN = ("_", ".")


@dataclass(frozen=True)
class Unlisted:
    """A file that Hadoop does not list.

    Attributes:
        path: relative to the folder; bytes that are no text are written as `\\xe9`.
        size: bytes.
        modified_ms: when it was last modified, milliseconds since 1970.
        reason: why it is not listed, and what to do.
    """

    path: str
    size: int
    modified_ms: int
    reason: str


def unlisted(root: str, encoding: str) -> Iterator[Unlisted]:
    """Return the files that Hadoop leaves out of its listing of a local folder.

    Names that begin with `_` or `.` are passed over, and links to folders are not followed.

    Args:
        root: the folder.
        encoding: in which the JVM reads names, as Python knows it.
    """
    folders = [root]
    while folders:
        try:
            entries = [*os.scandir(folders.pop())]
        except OSError:
            continue  # the listing itself says so
        for entry in entries:
            if entry.name.startswith(HIDDEN):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            path = os.path.relpath(entry.path, root)
            if reason := _reason(entry, path, encoding):
                found = os.lstat(entry.path)
                shown = os.fsencode(path).decode("utf-8", "backslashreplace")
                yield Unlisted(shown, found.st_size, int(found.st_mtime * 1000), reason)


def _reason(entry: os.DirEntry[str], path: str, encoding: str) -> str | None:
    try:
        path.encode(encoding)
    except UnicodeEncodeError:
        return f"its path is not text in {encoding.upper()}: rename it"
    if not entry.is_symlink():
        return None
    try:
        os.stat(entry.path)
    except OSError as error:
        leads = "to itself" if error.errno == errno.ELOOP else "to nothing"
        return f"a link that leads {leads}: mend or delete the link"
    return None
