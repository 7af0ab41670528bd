"""Read sample files in JSON: lines, one object, or an array of any size and layout."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import IO, Any

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.encodings import CONVERT
from tidemark.scaffold.reading.opening import BROKEN, SampleFile
from tidemark.scaffold.reading.reading import Note, Reading, Rows
from tidemark.scaffold.reading.texts import HALF, FileText, texts_of
from tidemark.scaffold.reading.wrapped_json import command_of, no_records, wrapped

RECORDS = 5_000
PIECE = 2**20  # characters read at a time
MAX_RECORD_CHARACTERS = 2**26  # characters of one record
DEPTH = 200  # levels; Python's parser ends at about 1,000


def read_json(files: Sequence[SampleFile], all_files: Sequence[SampleFile]) -> Reading:
    """Read the beginnings of JSON files.

    Args:
        files: the files to look at.
        all_files: all files of the feed, for `Reading.more`.

    Raises:
        TidemarkError: when the files have no JSON objects that can land, or only some are arrays.
    """
    texts, notes = texts_of(files, None)
    for text in texts:
        _check_encoding(text)
    whole_file = _are_whole(texts)
    found, message = _found(texts, whole_file)
    records = [value for value in found if isinstance(value, dict) and _lands(value)]
    if not any(records):
        raise no_records(texts[0], whole_file, message)
    notes += message
    if lost := len(found) - len(records):
        notes.append(("broken", f"{lost:,} of {len(found):,} records cannot be read; landing rejects them"))
    options = {"whole_file": True} if whole_file else {}
    names, twins = _names(records)
    notes += [
        ("rescued", f"{twin} differs from {name} in letter case only; stays in `_rescued_data`")
        for twin, name in twins.items()
    ]
    notes += wrapped(records, texts[0].name)
    records = [{n: v for n, v in record.items() if n not in twins} for record in records[:RECORDS]]
    more = partial(_all_records, all_files, frozenset(twins), whole_file)
    return Reading(names, options, records, more, notes)


def _are_whole(texts: Sequence[FileText]) -> bool:
    """Return whether each file is one array or object.

    Raises:
        TidemarkError: when only some are.
    """
    wholes = [_is_whole(text) for text in texts]
    if len(set(wholes)) > 1:
        one, two = (texts[wholes.index(whole)].name for whole in (True, False))
        raise TidemarkError(
            f"{one} is one array or object, {two} has one object per line.",
            "Put the files of each kind into a folder of their own: each folder is a feed.",
        )
    return wholes[0]


def _found(texts: Sequence[FileText], whole_file: bool) -> tuple[list[Any], list[Note]]:
    """Return the first values of the files, None for each that cannot be read, and what to say about them."""
    notes: list[Note] = []
    found: list[Any] = []
    if whole_file:
        notes.append(("json", "each file is one object or one array of objects"))
    for text in texts:
        if whole_file and text.is_whole and _parsed(text.text) is None:
            notes.insert(0, ("left out", f"{text.name} is not complete JSON; landing rejects it."))
            continue
        found += islice(_values(io.StringIO(text.text, newline=""), whole_file), RECORDS)
    return found, notes


def _check_encoding(text: FileText) -> None:
    if text.encoding != "utf-8":
        stem = text.name.rpartition(".")[0]
        command = CONVERT.format(old=text.name, new=f"{stem}-utf8.json", encoding=text.encoding)
        raise TidemarkError(
            f"{text.name} is {text.encoding}; JSON lands in UTF-8 only.", f"Convert it: {command}"
        )


def _is_whole(text: FileText) -> bool:
    """Return whether a file is one array or one object over several lines; False for one object per line.

    Raises:
        TidemarkError: when it has several objects, but not one per line.
    """
    content = text.text.lstrip()
    if content.startswith("["):
        first, _, rest = content.partition("\n")
        if rest.lstrip().startswith("[") and isinstance(_parsed(first), list):
            raise TidemarkError(
                f"{text.name} has one array per line, not one object per line.",
                'Write each record as an object with names: {"name": value}.',
            )
        return True
    lines = [line for line in islice(io.StringIO(content, newline=""), 200) if line.strip()]
    lines = lines[:-1] if not text.is_whole and len(lines) > 1 else lines
    if sum(isinstance(_parsed(line), dict) for line in lines) * 2 > len(lines):
        return False
    if not content.startswith("{"):
        return False
    if text.is_whole and not isinstance(_parsed(content), dict):
        several = len(list(islice(_elements(io.StringIO(content)), 2))) > 1
        what = "several objects, but not one per line" if several else "no complete JSON object"
        raise TidemarkError(
            f"{text.name} has {what}.",
            f"Write one object per line, into another folder: {command_of(text.name, '.')}."
            if several
            else "Replace the file: it may be cut off.",
        )
    return True


def _values(stream: IO[str], whole_file: bool) -> Iterator[Any]:
    """Yield the values of a file: of its lines, or of its array; None for each that cannot be read."""
    if not whole_file:
        yield from (_parsed(line) for line in stream if line.strip())
        return
    yield from _elements(stream)


def _elements(stream: IO[str]) -> Iterator[Any]:
    """Yield the elements of an array, or the object; only a part of the stream is in memory.

    It ends at the first element that is not JSON, or where the stream ends in an element.
    """
    text = stream.read(PIECE).lstrip("\ufeff")
    position = len(text) - len(text.lstrip())
    is_array = text.startswith("[", position)
    position += is_array
    decoder = json.JSONDecoder()
    while True:
        position = _past(text, position)
        if position == len(text) or len(text) - position < 64:
            text, position = text[position:] + stream.read(PIECE), 0
            position = _past(text, position)
        if position == len(text) or text.startswith("]", position):
            return
        try:
            value, end = decoder.raw_decode(text, position)
            if end == len(text) and (piece := stream.read(PIECE)):  # a number may go on
                text, position = text[position:] + piece, 0
                continue
        except ValueError:
            piece = stream.read(PIECE)
            if not piece or len(text) - position > MAX_RECORD_CHARACTERS:
                return
            text, position = text[position:] + piece, 0
            continue
        except RecursionError:
            yield None
            return
        yield value
        position = end


def _past(text: str, position: int) -> int:
    """Return the position after blanks and commas."""
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lands(value: Any, depth: int = 0) -> bool:
    """Return whether landing accepts a value: no half surrogate pair, no infinite number, not too deep."""
    if isinstance(value, str):
        return not HALF.search(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if depth > DEPTH:
        return False
    if isinstance(value, dict):
        return all(not HALF.search(name) and _lands(inner, depth + 1) for name, inner in value.items())
    return not isinstance(value, list) or all(_lands(inner, depth + 1) for inner in value)


def _names(records: Sequence[dict[str, Any]]) -> tuple[list[str], dict[str, str]]:
    """Return the fields, and those that differ from one of these in letter case only."""
    first: dict[str, str] = {}
    twins: dict[str, str] = {}
    for name in dict.fromkeys(name for record in records for name in record):
        known = first.setdefault(name.lower(), name)
        if known != name:
            twins[name] = known
    return list(first.values()), twins


def _all_records(files: Sequence[SampleFile], twins: frozenset[str], whole_file: bool) -> Rows:
    for file in files:
        # a broken file is ignored here; landing sets it aside
        with (
            suppress(*BROKEN),
            file.open() as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace") as text,
        ):
            for value in _values(text, whole_file):
                if isinstance(value, dict) and _lands(value):
                    yield {name: inner for name, inner in value.items() if name not in twins}
