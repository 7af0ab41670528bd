"""The beginnings of text files, decoded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.encodings import decoded
from tidemark.scaffold.reading.opening import BROKEN, SampleFile
from tidemark.scaffold.reading.reading import Note
from tidemark.scaffold.reading.unreadable import check_content

SAMPLE_BYTES = 2**20
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair, which is no character


@dataclass(frozen=True)
class FileText:
    """The first lines of a file.

    Attributes:
        name: the file's name.
        encoding: the encoding, as the feed's option has it.
        codec: Python's codec.
        text: the lines.
        is_whole: whether they are the whole file.
    """

    name: str
    encoding: str
    codec: str
    text: str
    is_whole: bool


def texts_of(files: Sequence[SampleFile], encoding: str | None) -> tuple[list[FileText], list[Note]]:
    """Return the first lines of each readable file, and notes about the files.

    Raises:
        TidemarkError: when no file can be read, one is not text, or the files have different encodings.
    """
    heads: list[tuple[str, bytes, bool]] = []
    notes: list[Note] = []
    for file in files:
        try:
            content, is_whole = file.head(SAMPLE_BYTES)
        except BROKEN as error:
            notes.append(("left out", f"{file} cannot be read: {str(error)[:80]}"))
            continue
        check_content(file, content)
        if content.strip():
            heads.append((str(file), content if is_whole else _complete(content), is_whole))
        elif len(files) > 1:
            notes.append(("left out", f"{file} is empty"))
    if not heads:
        why = f"{files[0]} is empty." if not any("cannot" in note for _, note in notes) else f"{notes[0][1]}."
        raise TidemarkError(why, "Give a file with some records.")
    found = decoded([(name, content) for name, content, _ in heads], encoding)
    texts = [
        FileText(name, one.encoding, one.codec, one.text, is_whole)
        for (name, _, is_whole), one in zip(heads, found, strict=True)
    ]
    main = _main_encoding(texts, encoding)
    reasons = dict.fromkeys(one.reason for one in found if one.reason)
    if main != "utf-8" or reasons:
        notes.append(("encoding", f"{main} ({'; '.join(reasons)}); use `--encoding` for another"))
    return texts, notes


def _complete(content: bytes) -> bytes:
    """Return the bytes up to the last line break; in UTF-16 and UTF-32, an even number of them."""
    for end in (b"\n\x00\x00\x00", b"\x00\x00\x00\n", b"\n\x00", b"\x00\n", b"\n", b"\r"):
        found = content.rfind(end)
        if found > 0 and (len(end) == 1 or b"\x00" in content[:8]):
            return content[: found + len(end)]
    return content


def _main_encoding(texts: Sequence[FileText], wanted: str | None) -> str:
    """Return the files' encoding.

    Raises:
        TidemarkError: when they have several; a byte order mark shows the encoding of its own file.
    """
    counts = Counter(
        text.encoding for text in texts if not (text.text.isascii() and text.encoding == "utf-8")
    ) or Counter(["utf-8"])
    unmarked = (
        Counter({name: count for name, count in counts.items() if name not in ("utf-16", "utf-32")}) or counts
    )
    if len(unmarked) > 1 and not wanted:
        one, two = [next(t for t in texts if t.encoding == name) for name in list(unmarked)[:2]]
        raise TidemarkError(
            f"The files differ in encoding: {one.encoding} in {one.name}, {two.encoding} in {two.name}.",
            "Put the files of each encoding into a folder of their own, or convert them to UTF-8.",
        )
    return unmarked.most_common(1)[0][0]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `3 lines`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
