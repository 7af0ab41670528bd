"""Divide a large JSON array into smaller ones, each with the text of its elements unchanged."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rich.filesize import decimal

from tidemark.base.errors import PackedError

CHUNK = 2**22  # characters that are read at once
PART = 2**24  # characters of an array that is written
MAX_ELEMENT = 2**25  # characters of an element
BLANK = re.compile(r"[ \t\r\n]*")
# the reader of the parts finds control characters; a number's value does not matter, only its end
DECODER = json.JSONDecoder(strict=False, parse_int=len, parse_float=len)


def split_array(source: Path) -> Iterator[str]:
    """Yield the elements of a JSON array as arrays of about 16 MB; a single object is yielded unchanged.

    Args:
        source: a file in UTF-8.

    Raises:
        PackedError: why it cannot be divided, and where.
    """
    part: list[str] = []
    size = 0
    for element in elements(source):
        part.append(element)
        size += len(element)
        if size > PART:
            yield f"[{','.join(part)}]"
            part, size = [], 0
    if part:
        yield f"[{','.join(part)}]"


def elements(source: Path) -> Iterator[str]:
    """Yield the text of each element of an array.

    Args:
        source: a file in UTF-8.

    Raises:
        PackedError: if it is not an array, or its text breaks off or is no JSON.
    """
    with source.open("rb") as file:
        text = _Text(file)
        if text.next_sign() != "[":
            raise PackedError("it is larger than 64 MB and not an array: write it as JSON lines")
        text.skip(1)
        number = 0
        if text.next_sign() == "]":
            text.skip(1)
        else:
            while True:
                number += 1
                yield text.element(number)
                sign = text.next_sign()
                text.skip(1)
                if sign == "]":
                    break
                if sign != ",":
                    raise PackedError(f"not JSON: neither `,` nor `]` after element {number:,} of the array")
        if text.next_sign():
            raise PackedError("not JSON: it has text after the end of the array")


class _Text:
    """The part of a file that was read but not used yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held = ""
        self._start = 0
        self._is_complete = False

    def next_sign(self) -> str:
        """Move to the next sign that is not blank, and return it; empty at the end of the file."""
        while True:
            found = BLANK.match(self._held, self._start)
            self._start = found.end() if found else self._start
            if self._start < len(self._held) or self._is_complete:
                return self._held[self._start : self._start + 1]
            self._more()

    def skip(self, number: int) -> None:
        self._start += number

    def element(self, number: int) -> str:
        """Return the text of the element that begins here, after blanks."""
        self.next_sign()
        while True:
            try:
                _, end = DECODER.raw_decode(self._held, self._start)
                if end < len(self._held) or self._is_complete:  # else a number may go on
                    text = self._held[self._start : end]
                    self._start = end
                    return text
            except RecursionError:
                raise PackedError(f"element {number:,} of the array is nested too deeply") from None
            except json.JSONDecodeError as error:
                if self._is_complete or len(self._held) - self._start > MAX_ELEMENT:
                    message = f"element {number:,} of the array is no JSON ({error.msg})"
                    if len(self._held) - self._start > MAX_ELEMENT:
                        message += f", or larger than {decimal(MAX_ELEMENT)}"
                    raise PackedError(f"not JSON: {message}") from None
            self._more()

    def _more(self) -> None:
        """Read on; what was used is dropped. Longer elements are read in longer steps."""
        held = self._held[self._start :]
        some = self._file.read(max(CHUNK, len(held)))
        self._is_complete = not some
        try:
            self._held = held + self._decoder.decode(some, final=not some)
        except UnicodeDecodeError:
            raise PackedError("not JSON in UTF-8: it contains bytes of another encoding") from None
        self._start = 0
