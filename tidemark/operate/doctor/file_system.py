"""Does the lake's file system keep what Tidemark relies on: renaming, and names as they are?"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tidemark.lake.place import is_remote, lake_folder
from tidemark.operate.doctor.finding import Checked, Finding, note, skipped, warning
from tidemark.operate.doctor.java import properties
from tidemark.operate.doctor.place import existing
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import java

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = re.compile(r"nfs4?|cifs|smb\w*|9p|ceph|glusterfs|lustre|afs|fuse\.(?!fuse-overlayfs).*")
UTF_8 = ("utf-8", "utf8")


def check_file_system(subject: Subject) -> Checked:
    """Check the kind of the disk, upper and lower case, and the encoding of file names."""
    if subject.root is None:
        return skipped("not looked at, outside of a project")
    place = existing(lake_folder())
    kind = mounted(place) if MOUNTS.is_file() else ""
    findings = [*_network(place, kind), *_case(place), *_encoding()]
    return Checked(f"{kind or 'of an unknown kind'}, file names in {_encodings()[0]}", tuple(findings))


def mounted(place: Path, mounts: str | None = None) -> str:
    """Return the kind of the file system of a path, such as `ext4`; empty if it is not known.

    Args:
        place: a path that exists.
        mounts: the text of Linux's `mountinfo`; None to read it.
    """
    best = ("", "")
    for line in (MOUNTS.read_text(encoding="utf-8") if mounts is None else mounts).splitlines():
        words = line.split()
        if len(words) < 8 or "-" not in words:
            continue
        point = re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), words[4])
        if place.resolve().is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, words[words.index("-") + 1])
    return best[1]


def _network(place: Path, kind: str) -> Iterator[Finding]:
    if NETWORK.fullmatch(kind) and not is_remote():
        message = (
            f"{place} is on a network mount ({kind}). A commit of Delta needs a rename that never replaces "
        )
        yield warning(
            f"{message}a file, and the lake's lock must be seen by all machines.",
            "Put the lake on a local disk or on an object store, or run all commands on one machine.",
        )


def _case(place: Path) -> Iterator[Finding]:
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".Tidemark-Case-") as file:
            is_same = Path(file.name).with_name(Path(file.name).name.swapcase()).exists()
    except OSError:
        return  # that the folder cannot be written is already reported
    if is_same:
        message = f"{place} does not distinguish upper and lower case: A.csv and a.csv are one file."
        yield note(message, "Give raw files and partitions names that differ in more than case.")


def _encodings() -> tuple[str, str]:
    """Return the encodings of file names: Python's and Java's."""
    command = shutil.which(java())
    of_java = properties(command).get("sun.jnu.encoding", "") if command else ""
    return sys.getfilesystemencoding().upper(), of_java


def _encoding() -> Iterator[Finding]:
    for program, encoding in zip(("Python", "Java"), _encodings(), strict=True):
        if encoding and encoding.lower() not in UTF_8:
            locale = next(
                (f"{n}={os.environ[n]}" for n in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(n)), ""
            )
            message = f"{program} reads file names in {encoding}{f' because of {locale}' if locale else ''}: "
            yield warning(
                f"{message}raw files with other names than ASCII are not found.", "Set LC_ALL=C.UTF-8."
            )
