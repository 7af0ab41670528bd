"""Choose the files of a feed in a folder, and the pattern that matches them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from python_ingest.feeds.file_formats import BY_ENDING, FILE_FORMATS
from python_ingest.feeds.paths import as_pattern
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.opening import BROKEN, ENDINGS, HIDDEN, sample_files, without_ending
from tidemark.scaffold.reading.reading import Note

NO_DATA = re.compile(
    r"(?i)(readme|licen[cs]e|changelog|thumbs\.db|desktop\.ini|~\$).*|.*\.(md|crc|rst|part|tmp)"
)
PARTITION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")
MAX_FILES_SHOWN = 3


@dataclass(frozen=True)
class Folder:
    """The files of a feed.

    Attributes:
        files: the files, sorted.
        partitions: the columns that the folders' names have, such as `year` in `year=2025`.
        notes: which files are left out.
    """

    files: list[Path]
    partitions: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def folder_of(path: Path) -> Folder:
    """Return the files to read at a path: those of the most frequent format.

    Args:
        path: a file, or a folder; hidden files, and files such as README, are ignored.

    Raises:
        TidemarkError: when there are none.
    """
    if path.is_file():
        return Folder([path])
    found = sorted(file for file in path.rglob("*") if file.is_file() and not _is_ignored(file, path))
    if not found:
        raise TidemarkError(
            f"There are no files at {path}.", "Give a file of the feed, or the folder of its files."
        )
    families = Counter(suffix_of(file) for file in found)
    main = max(families, key=lambda family: (family in BY_ENDING, families[family], family == "csv"))
    files = [file for file in found if suffix_of(file) == main]
    notes = [("left out", _named(family, found)) for family in families if family != main]
    return Folder(files, _partitions(files, path), tuple(notes))


def suffix_of(file: Path) -> str:
    """Return the suffix that shows a file's format; for a zip file, that of its first member."""
    inner = without_ending(file.name)
    suffix = Path(inner).suffix[1:].lower()
    if suffix or file.suffix.lower() != ".zip":
        return suffix
    try:
        members = sample_files([file], 1)
    except (TidemarkError, *BROKEN):
        return ""
    return members[0].suffix if members else ""


def pattern_of(files: Sequence[Path], stem: str) -> str:
    """Return the pattern that matches files and those of the same kind: compressed, or with another case.

    Args:
        files: the files.
        stem: what all names begin with; empty for all files with their suffix.
    """
    plain = {Path(without_ending(file.name)).suffix[1:] for file in files} - {""}
    is_zipped = any(
        without_ending(f.name) != f.name and not Path(without_ending(f.name)).suffix for f in files
    )
    spellings = dict.fromkeys(
        spelled for one in sorted(plain, key=str.lower) for spelled in (one.lower(), one.upper(), one)
    )
    spellings |= dict.fromkeys(("zip", "ZIP") if is_zipped else ())
    start = f"{as_pattern(stem.rstrip('_-. '))}*"
    if not spellings:
        return start
    known = FILE_FORMATS.get(BY_ENDING.get(suffix_of(files[0]), ""))
    is_text = not (known and known.is_compressed)
    ends = f"{{{','.join(ENDINGS)}}}" if is_text and plain else ""
    return f"{start}.{{{','.join(spellings)}}}{ends}"


def _is_ignored(file: Path, root: Path) -> bool:
    parts = file.relative_to(root).parts
    return any(part.startswith(HIDDEN) for part in parts) or bool(NO_DATA.fullmatch(file.name))


def _named(family: str, found: Sequence[Path]) -> str:
    names = [file.name for file in found if suffix_of(file) == family]
    shown = ", ".join(names[:MAX_FILES_SHOWN]) + (", …" if len(names) > MAX_FILES_SHOWN else "")
    kind = f".{family} " if family else ""
    return f"{len(names):,} {kind}file{'s' if len(names) > 1 else ''}: {shown}"


def _partitions(files: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Return the names in folders like `year=2025` that all files have."""
    names = [
        tuple(found[1] for part in file.relative_to(root).parts[:-1] if (found := PARTITION.fullmatch(part)))
        for file in files
    ]
    return names[0] if names and len(set(names)) == 1 else ()
