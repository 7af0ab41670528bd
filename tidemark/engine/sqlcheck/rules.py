"""The rules, each with the problem and the fix; docs/static_checks.md has an example of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from tidemark.engine.incremental.aggregates import SKETCHES_OF_ORDER
from tidemark.engine.sqlcheck.finding import Finding, Tables
from tidemark.engine.sqlcheck.lineage import Lineage, aggregates_of, line_of
from tidemark.engine.sqlcheck.orders import tied_order
from tidemark.engine.sqlcheck.parsing import ModelSql
from tidemark.engine.sqlcheck.text_order import partial_time, text_order

UNSETTLED = re.compile(r"\b(run_started_at|invocation_id|modules\.datetime)\b")
FUNCTIONS = (
    exp.CurrentTimestamp,
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentUser,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
NAMED = (
    "now",
    "unix_timestamp",
    "monotonically_increasing_id",
    "spark_partition_id",
    "input_file_name",
    "shuffle",
    "random",
    "localtimestamp",
    "curdate",
    "session_user",
)
TAKE_FROM_SOURCE = "Take the value from the source, such as `_ingested_at`."


def _aggregate_of_changes(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    for select in lineage.selects_from("changes"):
        if aggregates := aggregates_of(select):
            yield Finding(
                "aggregate_of_changes",
                line_of(aggregates[0]),
                "an aggregate over changes() sees only the changed rows, not the other rows of the same key.",
                "Read all rows by ref() or source(): a run reads those of the changed keys.",
            )


def _window_of_changes(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    for select in lineage.selects_from("changes"):
        for window in _windows(select):
            of = window.this
            is_count = isinstance(of, exp.Count) and window.parent and window.parent.alias == "_versions"
            if not isinstance(of, exp.RowNumber) and not is_count:
                yield Finding(
                    "window_of_changes",
                    line_of(window),
                    f"{of.key}() over changes() sees only the rows that changed.",
                    "Only row_number() may choose among them. Otherwise read all rows by ref() or source().",
                )


def _limit(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    for limit in model.tree.find_all(exp.Limit, exp.Fetch):
        yield Finding(
            "limit",
            line_of(limit),
            "`limit` chooses at random among ties; of changes(), it counts the rows of this run alone.",
            "Use row_number() within a key, ordered by columns that identify a row.",
        )


def _unsettled(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    found = [(f.sql("spark"), line_of(f)) for f in model.tree.find_all(*FUNCTIONS)]
    anonymous = model.tree.find_all(exp.Anonymous, exp.Func)
    found += [(f"{f.name}()", line_of(f)) for f in anonymous if f.name.lower() in NAMED or f.key in NAMED]
    found += [(match.group(), line) for message, line in model.jinja for match in UNSETTLED.finditer(message)]
    for name, line in found:
        yield Finding(
            "unsettled",
            line,
            f"{name.lower()} gives another value each time, so a rebuild would give other rows.",
            TAKE_FROM_SOURCE,
        )
    for call in model.tree.find_all(exp.Anonymous, exp.Func):
        name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
        if name in SKETCHES_OF_ORDER:
            yield Finding(
                "unsettled",
                line_of(call),
                f"{name}() depends on the order in which rows are read, so a rebuild can give other rows.",
                "Use an exact function, such as percentile() or a count per value.",
            )


def _windows(select: exp.Select) -> list[exp.Window]:
    return [window for window in select.find_all(exp.Window) if window.parent_select is select]


Rule = Callable[[ModelSql, Lineage, Tables], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    _aggregate_of_changes,
    _window_of_changes,
    _limit,
    _unsettled,
    tied_order,
    text_order,
    partial_time,
)
