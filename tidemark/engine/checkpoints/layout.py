"""The SQL that creates, changes, reads and writes `ops.runs` and its views.

A run is one row, so that its checkpoints and its record are one commit (decision 0021). Rows are never
rewritten: those of an earlier layout are translated where they are read, so that a lake can be read before
it is migrated, and a migration only adds columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tidemark.base.distribution import version
from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.rows import CHANGES, JOINED, WATERMARK

LAYOUT = 2  # of a row's checkpoints; 1 had neither kinds nor the parts of a contract
COUNTS = (
    "models_written",
    "models_unchanged",
    "models_failed",
    "models_skipped",
    "tests_passed",
    "tests_failed",
)
MODEL_RUN = {
    **dict.fromkeys(("model", "status", "state"), "string"),
    "reads": "array<string>",
    "rows_read": "bigint",
    **{
        f"rows_{name}": "bigint"
        for name in ("inserted", "updated", "deleted", "unchanged", "superseded", "rejected")
    },
    **dict.fromkeys(
        ("bytes_read", "files_read", "bytes_written", "files_written", "table_version"), "bigint"
    ),
    "seconds": "double",
    "message": "string",
}
WRITTEN = {"table": "string", "table_id": "string", "version_before": "bigint", "version": "bigint"}
FIRST_LAYOUT = {
    **dict.fromkeys(("model", "source", "source_id"), "string"),
    "version": "bigint",
    "watermark": "string",
    "table_version": "bigint",
    "table_id": "string",
    "contract": "string",
    "sequence": "bigint",
}
ADDED = dict.fromkeys(("kind", "watermark_column", "grain", "code", "macros", "variables"), "string")
CHECKPOINT = {**FIRST_LAYOUT, **ADDED}


def _array(columns: Mapping[str, str]) -> str:
    return f"array<struct<{', '.join(f'{name}: {kind}' for name, kind in columns.items())}>>"


COLUMNS = {
    **dict.fromkeys(("invocation_id", "command"), "string"),
    **dict.fromkeys(("started_at", "ended_at"), "timestamp"),
    "succeeded": "boolean",
    **dict.fromkeys(COUNTS, "int"),
    "model_runs": _array(MODEL_RUN),
    "checkpoints": _array(CHECKPOINT),
    "git_commit": "string",
    "git_is_dirty": "boolean",
    "locks": "map<string, string>",
    **dict.fromkeys(("dbt_version", "tidemark_version", "target", "vars"), "string"),
    "failed_tests": "array<string>",
    "tables_written": _array(WRITTEN),
    "undone_runs": "array<string>",
    "failed_audits": "array<struct<model: string, test: string, failures: bigint, batch: string>>",
    "layout": "int",  # the last step of a migration
}
VIEWS = ("model_runs", "checkpoints")
PROPERTIES = {
    "delta": "tblproperties ('delta.autoOptimize.autoCompact' = 'true', 'delta.checkpointInterval' = '20')"
}

# How a value of the first layout is read. `contract` was `contract.grain.code-macros-variables`, for a test
# `contract.code-macros-variables`, and without the later parts in lakes that are older still.
PARTS = "[.]([^.-]+)-([^.-]+)-([^.-]+)$"
TRANSLATED = {
    "kind": f"case when c.source_id like '{JOINED} %' then '{JOINED}' "
    f"when c.source_id like '{WATERMARK} %' then '{WATERMARK}' "
    f"when c.source_id is not null then '{CHANGES}' end",
    "source_id": f"case when c.source_id not like '{WATERMARK} %' "
    f"then regexp_replace(c.source_id, '^{JOINED} ', '') end",
    "watermark_column": f"nullif(regexp_extract(c.source_id, '^{WATERMARK} (.*)$', 1), '')",
    "contract": "substring_index(c.contract, '.', 1)",
    "grain": "nullif(regexp_extract(c.contract, '^[^.]*[.]([^.-]+)([.]|$)', 1), '')",
    **{
        name: f"nullif(regexp_extract(c.contract, '{PARTS}', {number}), '')"
        for number, name in enumerate(("code", "macros", "variables"), 1)
    },
}


def fields_of(columns: Mapping[str, str]) -> set[str]:
    """Return the fields of a checkpoint in a table.

    Args:
        columns: the types of the table's columns, such as `array<struct<model:string>>`, by name.
    """
    return set(re.findall(r"(\w+):", columns.get("checkpoints", "")))


def refuse_newer(table: str, columns: Mapping[str, str], written_by: Callable[[], str | None]) -> None:
    """Stop if a newer version of Tidemark has changed the table.

    Args:
        table: `schema.runs`.
        columns: the types of its columns by name.
        written_by: returns the version that wrote its newest row, if that is known.

    Raises:
        TidemarkError: if it has columns or fields that this version does not know.
    """
    unknown = [*(columns.keys() - COLUMNS.keys()), *(fields_of(columns) - CHECKPOINT.keys())]
    if unknown:
        newer = written_by()
        raise TidemarkError(
            f"{table} was written by a newer version of Tidemark{f' ({newer})' if newer else ''}: "
            f"version {version()} does not know its column {', '.join(sorted(unknown))}.",
            "Install the newer version: `pip install --upgrade dbt-tidemark`.",
        )


def opening_statements(
    table: str, columns: Mapping[str, str] | None, present: Collection[str], table_format: str
) -> Iterator[str]:
    """Yield the statements that create the table and its views, or bring them to this version's layout.

    A process that is killed between two of them leaves a table that can be read; the next one goes on.

    Args:
        table: `schema.runs`.
        columns: the types of its columns by name; None if there is no table.
        present: those of VIEWS that exist.
        table_format: `delta` or `iceberg`.
    """
    is_current = columns is not None and "layout" in columns
    if columns is None:
        yield f"create schema if not exists {table.rpartition('.')[0]}"
        # not from a list of columns: where a killed run left its folder, Delta refuses that for ever
        yield (
            f"create or replace table {table} using {table_format} {PROPERTIES.get(table_format, '')} as "
            f"select record.* from (select from_json(null, {_literal(_ddl(COLUMNS))}) as record) where false"
        )
    elif not is_current:
        missing = {name: kind for name, kind in COLUMNS.items() if name not in {*columns, "layout"}}
        if missing:
            yield f"alter table {table} add columns ({_ddl(missing)})"
        if added := {} if "checkpoints" in missing else _without(ADDED, fields_of(columns)):
            nested = {f"checkpoints.element.{name}": kind for name, kind in added.items()}
            yield f"alter table {table} add columns ({_ddl(nested)})"
    elif missing := _without(COLUMNS, columns):
        yield f"alter table {table} add columns ({_ddl(missing)})"
    for name in VIEWS:
        if not is_current:
            yield f"create or replace view {_view(table, name)} as {_view_query(table, name)}"
        elif name not in present:
            yield f"create view if not exists {_view(table, name)} as {_view_query(table, name)}"
    if columns is not None and not is_current:
        yield f"alter table {table} add columns ({_ddl({'layout': COLUMNS['layout']})})"


def insert_statement(table: str, row: Mapping[str, Any]) -> str:
    """Return the statement that records a run, in one commit.

    Args:
        table: `schema.runs`, of this version's layout.
        row: the values by column; timestamps in ISO 8601 format. A column that it lacks is NULL.
    """
    text = json.dumps({**row, "layout": LAYOUT})
    return (
        f"insert into {table} ({', '.join(COLUMNS)}) select record.* from (select from_json("
        f"{_literal(text)}, {_literal(_ddl(COLUMNS))}, map('mode', 'FAILFAST')) as record)"
    )


def moved_query(table: str, fields: Collection[str], where: str = "true") -> str:
    """Return the query of all checkpoints that runs have moved, in this version's columns.

    Args:
        table: `schema.runs`.
        fields: the fields that its checkpoints have, from `fields_of`.
        where: a condition on runs.

    Returns:
        A query of the columns of CHECKPOINT, `invocation_id`, and `recorded_at` in microseconds since 1970.
    """
    rows = f"select *, explode(checkpoints) as c from {table}"
    return (
        "select invocation_id, unix_micros(started_at) as recorded_at, "
        f"{_translated(fields)} from ({rows}) where {where}"
    )


def newest_query(table: str, fields: Collection[str], where: str = "true") -> str:
    """Return the query of the newest checkpoint of each reader and source.

    A checkpoint's sequence grows each time it moves, whatever the clock says.

    Args:
        table: `schema.runs`.
        fields: the fields that its checkpoints have, from `fields_of`.
        where: a condition on runs.
    """
    names = ", ".join((*CHECKPOINT, "recorded_at"))
    return (
        f"select newest.* from (select /*+ coalesce(1) */ max_by(struct({names}), sequence) as newest "
        f"from ({moved_query(table, fields, where)}) group by model, source)"
    )


def model_runs_query(table: str, where: str = "true") -> str:
    """Return the query of what each run did with each model: the view `ops.model_runs`.

    Args:
        table: `schema.runs`.
        where: a condition on runs.
    """
    return f"select invocation_id, started_at, inline(model_runs) from {table} where {where}"


def measured_query(table: str, number: int) -> str:
    """Return the query of the newest successful runs of each model that read something.

    Args:
        table: `schema.runs`.
        number: how many of each model.

    Returns:
        A query of `model`, `state` and `seconds`, newest first.
    """
    newest = "row_number() over (partition by model order by started_at desc, invocation_id)"
    return (
        f"select model, state, seconds from (select *, {newest} as place from ({model_runs_query(table)}) "
        f"where status = 'success' and state <> 'nothing new') where place <= {number} order by model, place"
    )


def _translated(fields: Collection[str]) -> str:
    """Return the columns of a checkpoint `c`, with those of the first layout in the present columns."""
    columns = []
    for name, kind in CHECKPOINT.items():
        earlier = TRANSLATED.get(name, f"c.{name}")
        is_new = name in ADDED and name in fields
        columns.append(
            f"{f'coalesce(c.{name}, {earlier})' if is_new else f'cast({earlier} as {kind})'} as {name}"
        )
    return ", ".join(columns)


def _view_query(table: str, name: str) -> str:
    if name == "model_runs":
        return model_runs_query(table)
    rows = f"select invocation_id, started_at, explode(checkpoints) as c from {table}"
    return f"select invocation_id, started_at as recorded_at, {_translated(CHECKPOINT)} from ({rows})"


def _view(table: str, name: str) -> str:
    return f"{table.rpartition('.')[0]}.{name}"


def _without(columns: Mapping[str, str], present: Collection[str]) -> dict[str, str]:
    return {name: kind for name, kind in columns.items() if name not in present}


def _ddl(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
