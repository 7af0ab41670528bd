"""Maps of `describe history` and `describe detail`, as a session and as a Thrift server write them."""

from __future__ import annotations

import json

from tidemark.engine.adapter.map_text import map_of


def test_a_map_is_read_with_and_without_escapes() -> None:
    """Values that are JSON, NULL or free text."""
    cases: list[dict[str, str | None]] = [
        {},
        {"numFiles": "1", "numOutputRows": "20"},
        {"mode": "Overwrite", "description": None, "properties": '{"delta.enableChangeDataFeed":"true"}'},
        {"description": None},
        {"predicate": '["(a = \\"x\\")"]', "matchedPredicates": '[{"actionType":"update"}]', "a": "b"},
        {"description": 'it "is", so', "isManaged": "true"},
        {"delta.constraints.a": 'x = "1"', "delta.constraints.b": "[x", "c": ""},
    ]
    for case in cases:
        assert map_of(json.dumps(case)) == case
        unescaped = [f'"{key}":' + ("null" if value is None else f'"{value}"') for key, value in case.items()]
        assert map_of("{" + ",".join(unescaped) + "}") == case
