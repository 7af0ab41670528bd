"""Find the encoding of text files; ask where their bytes do not show it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from charset_normalizer import from_bytes

from python_ingest.files.formats.encodings import MARKS, mark_of, wide_encoding
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.letters import WORD, likelihood

CANDIDATES = {  # encodings that Python and Java know by one name: Python's codec, and the name to write
    "cp1252": "windows-1252",
    "cp1251": "windows-1251",
    "cp1250": "windows-1250",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "iso8859_15": "iso-8859-15",
    "iso8859_2": "iso-8859-2",
    "iso8859_5": "iso-8859-5",
    "iso8859_7": "iso-8859-7",
    "koi8_r": "koi8-r",
    "cp866": "cp866",
    "cp850": "cp850",
    "cp852": "cp852",
    "tis_620": "tis-620",
    "gb18030": "gb18030",
    "big5": "big5",
    "shift_jis": "shift_jis",
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
}
UNKNOWN_IN_JAVA = (
    "mac",
    "utf_7",
    "utf-7",
    "utf_8_sig",
    "utf-8-sig",
    "iso2022",
    "hz",
    "cp1125",
    "idna",
    "punycode",
)
EVIDENCE_BYTES = 50_000  # of lines beyond ASCII; more does not change the answer
WORDS = 400
MARGIN = 4.5  # the best text is e^4.5 times as likely as the next one
MAX_ENCODINGS_SHOWN = 4
CONVERT = (  # a command
    "python -c \"t = open('{old}', encoding='{encoding}').read(); "
    "open('{new}', 'w', encoding='utf-8').write(t)\""
)


@dataclass(frozen=True)
class Decoded:
    """The text of a file.

    Attributes:
        encoding: the name to write into the feed's options; utf-8 also for files with a byte order mark.
        codec: Python's codec, which also removes a byte order mark.
        text: the text.
        reason: why it is this encoding; empty if it is UTF-8.
    """

    encoding: str
    codec: str
    text: str
    reason: str = ""


def known_encoding(name: str) -> str:
    """Return the encoding's name for a feed.

    Raises:
        TidemarkError: when Python or Java does not know it.
    """
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if not found or not _is_text(found) or found.startswith(UNKNOWN_IN_JAVA):
        raise TidemarkError(
            f"The encoding {name!r} is unknown to Python or Java.",
            f"Use one that both know: utf-8, utf-16, {', '.join(CANDIDATES.values())}.",
        )
    return CANDIDATES.get(found.replace("-", "_"), found)


def _is_text(name: str) -> bool:
    try:
        return "a".encode(name).decode(name) == "a"
    except (LookupError, UnicodeError):
        return False


def decoded(heads: Sequence[tuple[str, bytes]], wanted: str | None) -> list[Decoded]:
    """Decode the beginnings of files.

    Args:
        heads: the files' names, and their first bytes.
        wanted: the encoding that the user names; a byte order mark is recognized all the same.

    Raises:
        TidemarkError: when the bytes are not text in the encoding, or fit several encodings equally well.
    """
    found = [_marked(head) or (_in(name, head, wanted) if wanted else _utf_8(head)) for name, head in heads]
    open_ones = [(name, head) for (name, head), done in zip(heads, found, strict=True) if done is None]
    if not open_ones:
        return [one for one in found if one]
    codec = _guessed(open_ones[0][0], evidence_of([head for _, head in open_ones]))
    reason = "by far the likeliest for its letters"
    return [
        done or Decoded(CANDIDATES[codec], codec, _decode(head, codec), reason)
        for (_, head), done in zip(heads, found, strict=True)
    ]


def _marked(head: bytes) -> Decoded | None:
    """Decode text whose first bytes show its encoding."""
    if wide := wide_encoding(head):
        has_mark = bool(mark_of(head))
        codec = wide.removesuffix("-le").removesuffix("-be") if has_mark else wide
        reason = "its byte order mark" if has_mark else "its zero bytes"
        return Decoded(codec if has_mark else wide, codec, _decode(head, codec), reason)
    return Decoded("utf-8", "utf-8-sig", _decode(head, "utf-8-sig")) if mark_of(head) in MARKS else None


def _utf_8(head: bytes) -> Decoded | None:
    """Decode UTF-8, also if a few of its lines are broken; None if it is something else."""
    with suppress(UnicodeDecodeError):
        _decode_strictly(head, "utf-8")
        return Decoded("utf-8", "utf-8", _decode(head, "utf-8"))
    lines = [line for line in re.split(b"[\r\n]+", head) if not line.isascii()]
    broken = sum(not _fits(line, "utf-8") for line in lines)
    if broken > len(lines) / 2:
        return None
    return Decoded(
        "utf-8", "utf-8", _decode(head, "utf-8"), f"{broken} of its lines are not, and will be rejected"
    )


def _in(name: str, head: bytes, encoding: str) -> Decoded:
    lines = [line for line in re.split(b"[\r\n]+", head) if not line.isascii()]
    broken = [line for line in lines if not _fits(line, encoding)]
    if not _fits(head, encoding) and len(broken) * 2 > len(lines):
        raise TidemarkError(
            f"{name} is not {encoding}: {broken[0].decode(encoding, 'replace')[:60]!r}.",
            "Leave out `--encoding`, or give another.",
        )
    reason = "`--encoding`" if encoding != "utf-8" else ""
    return Decoded(encoding, encoding, _decode(head, encoding), reason)


def evidence_of(heads: Sequence[bytes]) -> bytes:
    """Return lines with bytes beyond ASCII, from all files alike."""
    lines = [[line for line in re.split(b"[\r\n]+", head) if not line.isascii()] for head in heads]
    share = EVIDENCE_BYTES // max(1, len(heads))
    return b"\n".join(b"\n".join(dict.fromkeys(some))[:share] for some in lines)


def _guessed(name: str, evidence: bytes) -> str:
    """Return the codec whose text is clearly the likeliest; codecs that give the same text are one."""
    texts: dict[str, str] = {}
    proposed = [match.encoding for match in from_bytes(evidence)]
    for codec in dict.fromkeys([*CANDIDATES, *(codec for codec in proposed if codec in CANDIDATES)]):
        with suppress(UnicodeDecodeError):
            text = _decode_strictly(evidence, codec)
            texts.setdefault(text, codec)
    scores = {text: likelihood(_words(text), codec) for text, codec in texts.items()}
    best = sorted(texts, key=lambda text: -scores[text])[:MAX_ENCODINGS_SHOWN]
    if best and (len(best) == 1 or scores[best[0]] - scores[best[1]] >= MARGIN):
        return texts[best[0]]
    likely = [text for text in best if scores[text] > scores[best[0]] - 3 * MARGIN]
    raise TidemarkError(
        f"{name}: its encoding is not UTF-8 and not certain. {_shown(likely, texts)}",
        "Give the right one: `--encoding NAME`.",
    )


def _shown(likely: Sequence[str], texts: dict[str, str]) -> str:
    """Return one value in each of the likely encodings, where they differ most."""
    if not likely:
        return "No known encoding fits all of its bytes."
    rows = list(zip(*(_words(text) for text in likely), strict=False))
    row = max(rows, key=lambda row: len(set(row)), default=likely)
    values = [f"{word[:40]!r} in {CANDIDATES[texts[text]]}" for word, text in zip(row, likely, strict=True)]
    return f"A value is {', '.join(values)}."


def _words(text: str) -> list[str]:
    words = (word for word in dict.fromkeys(WORD.findall(text)) if not word.isascii())
    return [word for word, _ in zip(words, range(WORDS), strict=False)]


def _fits(content: bytes, codec: str) -> bool:
    try:
        _decode_strictly(content, codec)
    except UnicodeDecodeError:
        return False
    return True


def _decode_strictly(content: bytes, codec: str) -> str:
    return content.decode(codec)


def _decode(content: bytes, codec: str) -> str:
    return content.decode(codec, "replace")
