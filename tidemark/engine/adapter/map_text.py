"""Maps in results: a session gives JSON, a Thrift server nearly JSON, without escapes in the values."""

from __future__ import annotations

import json
import re

ENTRY = re.compile(r'"([^"]+)":("|null)')
END = re.compile(r'"(?=,"[^"]+":(?:"|null)|}$)')


def map_of(text: str) -> dict[str, str | None]:
    """Return a map of texts.

    Args:
        text: such as `{"mode":"Append","properties":"{"a":"b"}"}`. Quotes within JSON end no value.
    """
    try:
        whole: dict[str, str | None] = json.loads(text)
    except ValueError:
        return dict(_entries(text))
    return whole


def _entries(text: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    place = 1
    while entry := ENTRY.match(text, place):
        start = end = entry.end()
        if entry[2] == "null":
            found.append((entry[1], None))
            place = end + 1  # after the comma
            continue
        if text[start] in "{[":
            end = _end_of_json(text, start)
        close = END.search(text, end)
        end = close.start() if close else len(text) - 2
        found.append((entry[1], text[start:end]))
        place = end + 2  # after the quote and the comma
    return found


def _end_of_json(text: str, start: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except ValueError:
        return start
