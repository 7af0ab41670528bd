"""What the first bytes of a file tell of its encoding, without Spark."""

from __future__ import annotations

import pytest

from python_ingest.files.formats.encodings import is_binary, wide_encoding

pytestmark = pytest.mark.R1

WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
MARK, LATIN, CYRILLIC = "\ufeff", "id,name\n1,Ada\n", "имя\nАда\n"


@pytest.mark.parametrize("encoding", WIDE)
def test_wide_encodings_are_recognized(encoding: str) -> None:
    """R1.4: by a byte order mark; without one by the zero bytes of Latin letters, whatever follows them."""
    for text in (LATIN, '{"id": 1}', "a,b", MARK + LATIN, MARK + CYRILLIC, LATIN * 40 + CYRILLIC * 10_000):
        assert wide_encoding(text.encode(encoding)) == encoding


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"a",
        b"a\0",
        b"\0" * 100,
        LATIN.encode(),
        (MARK + LATIN).encode(),
        b"id,na\0me\n1,Ada\n",
        CYRILLIC.encode("windows-1251"),
        CYRILLIC.encode("utf-16-le"),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0",
        b"PAR1\x15\x04\x15\x08\x15\x0cL\x15\x02\x15\0\x12\0\0",
    ],
)
def test_other_bytes_are_not_taken_for_wide_text(head: bytes) -> None:
    """R1.4: nothing, a byte, text of other encodings, NUL bytes, pictures."""
    assert wide_encoding(head) is None


def test_a_file_that_is_no_text() -> None:
    """R1.4: NUL bytes alone do not tell it, nor bytes that the file's encoding has."""
    assert is_binary(b"\x89PNG\r\n\0")
    assert not is_binary(b"id,name\n1,A\0da\n\xff")
    assert not is_binary(b"id,\xff\n1,Ada\n")
    german = "id,Größe\n1,\0\n".encode("windows-1252")
    assert is_binary(german)
    assert not is_binary(german, "windows-1252")
