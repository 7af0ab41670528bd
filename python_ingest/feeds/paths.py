"""Convert file paths to the forms that Spark needs, and glob patterns to regular expressions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tidemark.base.archives import MEMBER

ILLEGAL_IN_URI = re.compile(r'[\x00-\x20"#%<>?\[\\\]^`{|}\x7f]')
COPIED = "._COPYING_"  # suffix of unfinished copies
HIDDEN = ("_", ".")  # how the names of hidden files and folders begin
DOCUMENTS = r"(?i)(?:^|/)(?:readme[^/]*|licen[cs]e[^/]*|[^/]*\.md)\z"  # files that describe data
IS_DOCUMENT = re.compile(DOCUMENTS.replace(r"\z", r"\Z"))
ARCHIVED = re.compile(rf"(\.zip){MEMBER}.*", re.IGNORECASE | re.DOTALL)
ARCHIVED_IN_SQL = rf"(?is)(\.zip){MEMBER}.*"
GLOB_SIGNS = re.compile(r"([\\*?\[\]{}])")


def as_uri(path: str) -> str:
    """Encode a path by the rules of java.net.URI, which Spark's `_metadata.file_path` also follows.

    Args:
        path: as Hadoop prints it, for example `file:/raw/a b.csv` or `s3a://bucket/ü.csv`.

    Returns:
        The URI, for example `file:/raw/a%20b.csv`.
    """
    return "".join(_quoted(sign) if ILLEGAL_IN_URI.match(sign) or _is_blank(sign) else sign for sign in path)


def spellings(uri: str) -> tuple[str, ...]:
    """Return a URI in all forms that Spark may show: a local one with one slash or with three."""
    return (uri, uri.replace("file:/", "file:///", 1)) if uri.startswith("file:/") else (uri,)


def as_glob(path: str) -> str:
    """Escape the characters of a path that Spark's readers would expand."""
    return GLOB_SIGNS.sub(r"\\\1", path)


def as_pattern(name: str) -> str:
    """Escape the characters of a name that `regex_of` would expand."""
    return re.sub(r"[*?\[{]", r"[\g<0>]", name)


def regex_of(pattern: str) -> str:
    """Return the Java regular expression of a glob, for a path relative to the feed's location.

    `*` and `?` match within one folder, `**/` matches any number of folders, `[…]` one of several
    characters, and `{a,b}` one of several words. A pattern without `/` matches file names at any depth.
    """
    wanted = pattern if "/" in pattern else f"**/{pattern}"
    parts = re.split(r"(\*\*/|\*|\?|\[!?[^\]/]+\]|\{[^{}/]+\})", wanted)
    return "^" + "".join(_part(part) for part in parts) + r"\z"


def regex_of_any(patterns: Iterable[str]) -> str:
    """Return the Java regular expression of several globs; of none, one that matches nothing."""
    return "|".join(f"(?:{regex_of(pattern)})" for pattern in patterns) or r"(?!)"


def matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a Python pattern of globs, for `fullmatch` with a path relative to the feed's location."""
    return re.compile(regex_of_any(patterns).replace(r"\z)", r"\Z)"))


def file_of(source: str) -> str:
    """Return the listed file of a value of `_source_file`, which may be a member of an archive."""
    return ARCHIVED.sub(r"\1", source, count=1)


def _part(part: str) -> str:
    if part in ("**/", "*", "?"):
        return {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}[part]
    if part.startswith("[") and part.endswith("]"):
        signs = part[1:-1]
        negated = signs.startswith("!")
        return "[" + "^/" * negated + re.sub(r"([\\\[\]&^])", r"\\\1", signs[negated:]) + "]"
    if part.startswith("{") and part.endswith("}"):
        return "(?:" + "|".join(_escaped(word) for word in part[1:-1].split(",")) + ")"
    return _escaped(part)


def _escaped(text: str) -> str:
    return re.sub(r"([\\.\[\]{}()*+?^$|])", r"\\\1", text)


def _quoted(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode())


def _is_blank(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Zs", "Zl", "Zp")
