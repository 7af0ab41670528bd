"""Which feeds share a folder: a file that belongs to another feed is not left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from python_ingest.feeds.paths import regex_of_any

LOCAL = re.compile(r"^file:/+")
URL = re.compile(r"^[a-z][a-z0-9+.-]+:", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """Files below one feed's location that belong to another feed.

    Attributes:
        above: what to put before a path, because the other feed's location is higher; ends with `/`.
        regex: the Java regular expression of the paths.
    """

    above: str
    regex: str


def claims(location: str, others: Iterable[tuple[str, Sequence[str]]]) -> tuple[Claim, ...]:
    """Return which files below a location belong to other feeds.

    Args:
        location: the location of a feed.
        others: the locations of the other feeds, each with its patterns, also those that it excludes.
    """
    here = folder_of(location)
    found = []
    for other, patterns in others:
        there = folder_of(other)
        if here.startswith(there):
            found.append(Claim(here.removeprefix(there), regex_of_any(patterns)))
        elif there.startswith(here):
            below = re.escape(there.removeprefix(here))
            found.append(Claim("", f"^{below}(?:{regex_of_any(patterns).replace('(?:^', '(?:')})"))
    return tuple(found)


def folder_of(location: str) -> str:
    """Return a location in one spelling, with a trailing `/`."""
    local = LOCAL.sub("/", location)
    place = local if URL.match(local) else os.path.abspath(local)
    return f"{place.rstrip('/')}/"
