"""The unit tests of a proposed feed: of its staging, its silver model and the model of rejected rows."""

from __future__ import annotations

from typing import Any

from tidemark.scaffold.column import Proposed
from tidemark.scaffold.examples import in_silver, literal, shown, staged_literal, versions
from tidemark.scaffold.feed import Proposal
from tidemark.scaffold.yaml_text import Block, Flow

UNREADABLE = "the record cannot be read"
PLACE = (
    "  'sample' as _source_file, {batch}L as _batch_id, {row}L as _row_number, cast({broken} as string) as "
    "_corrupt_record,\n"
    "  timestamp '2025-01-01' as _source_modified_at, timestamp '2025-01-01' as _ingested_at"
)
NEWER = {"date": "date '2025-01-0{}'", "timestamp": "timestamp '2025-01-0{}'"}


def staging_tests(feed: Proposal) -> list[dict[str, Any]]:
    """Return the test of the staging model: what a record becomes, and the reason of a broken one."""
    columns = shown(feed)
    rows: list[dict[str, Any]] = [
        Flow({column.name: in_silver(column, version[column.field]) for column in columns})
        | {"rejection_reason": None}
        for version in versions(feed)
    ]
    rows.append(Flow(dict.fromkeys(column.name for column in columns)) | {"rejection_reason": UNREADABLE})
    test = {
        "name": f"stg_{feed.name}_name_the_broken_rule",
        "description": "Casts the values of a record; a record that cannot be read has that reason.",
        "model": f"stg_{feed.name}",
        "given": [_given(f"source('bronze', '{feed.name}')", _landed_rows(feed))],
        "expect": {"rows": rows},
    }
    return [test]


def silver_tests(feed: Proposal) -> list[dict[str, Any]]:
    """Return the tests of the silver model and of the model of rejected rows."""
    rows = [
        {column.name: in_silver(column, version[column.field]) for column in shown(feed)}
        for version in versions(feed)
    ]
    rejected = f"rejected_{feed.name}"
    if feed.key:
        name, what = f"{feed.name}_take_the_newest_version", "the newer version of a key"
        rows = [rows[1] or {"_versions": 2}]  # a row without columns is no SQL
    else:
        name, what = f"{feed.name}_keep_each_record", "each record"
        rows = [{"_batch_id": n + 1, "_row_number": n, **row} for n, row in enumerate(rows)]
    given = _given(f"ref('stg_{feed.name}')", _staged_rows(feed))
    return [
        {
            "name": name,
            "description": f"Keeps {what}; leaves out a record that cannot be read.",
            "model": feed.name,
            "given": [dict(given)],
            "expect": {"rows": [*map(Flow, rows)]},
        },
        {
            "name": f"{rejected}_are_the_rows_that_break_a_rule",
            "description": "Sets a record that cannot be read aside, with that reason.",
            "model": rejected,
            "given": [dict(given)],
            "expect": {"rows": [Flow(_row_number=2, rejection_reason=UNREADABLE)]},
        },
    ]


def _given(relation: str, rows: str) -> dict[str, Any]:
    return Flow(input=relation) | {"format": "sql", "rows": Block(rows)}


def _landed_rows(feed: Proposal) -> str:
    """Return the SQL of landed rows: two versions of a record, and a record that cannot be read."""
    selects = []
    for number, version in enumerate([*versions(feed), None]):
        values = [
            f"  {literal(column, version[column.field] if version else None)} as {column.name},\n"
            for column in feed.columns
        ]
        place = PLACE.format(batch=number + 1, row=number, broken="null" if version else "'broken'")
        selects.append(f"select\n{''.join(values)}  cast(null as string) as _rescued_data,\n{place}\n")
    return "union all\n".join(selects)


def _staged_rows(feed: Proposal) -> str:
    """Return the SQL of staged rows: two versions of a record, and one of the same key that was rejected."""
    first, second = versions(feed)
    selects = []
    for number, version in enumerate([first, second, second]):
        reason = f"'{UNREADABLE}'" if number == 2 else "cast(null as string)"
        values = [
            f"  {_staged_value(feed, column, version, number)} as {column.name},\n" for column in feed.columns
        ]
        place = PLACE.format(batch=number + 1, row=number, broken="null")
        extra = f"  cast(null as string) as raw_record, {reason} as rejection_reason,\n"
        selects.append(f"select\n{''.join(values)}{extra}{place}\n")
    return "union all\n".join(selects)


def _staged_value(feed: Proposal, column: Proposed, version: dict[str, Any], number: int) -> str:
    if column in shown(feed):
        return staged_literal(column, version[column.field])
    if column == feed.newest_by:
        later = NEWER.get(column.type, "cast({} as " + column.type + ")")
        return later.format(number + 1)
    return f"cast(null as {column.type})"
