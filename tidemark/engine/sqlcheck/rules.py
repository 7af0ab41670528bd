"""The rules, each with the problem and the fix; docs/static_checks.md has an example of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlglot import exp

from tidemark.engine.incremental.aggregates import SKETCHES_OF_ORDER
from tidemark.engine.sqlcheck.finding import Finding, Table, Tables
from tidemark.engine.sqlcheck.lineage import Lineage, aggregates_of, line_of, merged
from tidemark.engine.sqlcheck.orders import tied_order
from tidemark.engine.sqlcheck.parsing import ModelSql, Reading
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


def _touched_column(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    keys = [reading for reading in model.readings.values() if reading.kind == "touched_keys"]
    for pinned in _pinned(model.readings.values()):
        (column,) = pinned.columns
        touched = [reading.columns for reading in keys if reading.relation == pinned.relation]
        if touched and not any(column in columns for columns in touched):
            yield Finding(
                "touched_column",
                pinned.line,
                f"pinned() reads only the touched values of {column}, but the keys are "
                f"{', '.join(touched[0])}: it misses rows of these keys.",
                "Remove `touched`, or add this column to touched_keys().",
            )
    for select, sources in lineage.selects():
        group = select.args.get("group")
        if not group or not aggregates_of(select):
            continue
        for pinned in _pinned(merged(sources.values()).rows):
            names = lineage.names_of(pinned.columns[0])
            if not names & {column.name for column in _grouped(select)}:
                yield Finding(
                    "touched_column",
                    line_of(group),
                    f"pinned() reads only touched values of {pinned.columns[0]}, which is not in `group by`.",
                    "Remove `touched`.",
                )


def _aggregate_of_changes(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    for select, sources in lineage.selects():
        if aggregates_of(select) and merged(sources.values()).reads("changes"):
            yield Finding(
                "aggregate_of_changes",
                line_of(aggregates_of(select)[0]),
                "an aggregate over changes() sees only the changed rows, not the other rows of the same key.",
                "Recompute the key with touched_keys() and pinned(), or use folded().",
            )


def _window(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    keys = [reading.columns for reading in model.readings.values() if reading.kind == "touched_keys"]
    for select, sources in lineage.selects():
        origin = merged(sources.values())
        for window in _windows(select):
            of = window.this
            is_count = isinstance(of, exp.Count) and window.parent and window.parent.alias == "_versions"
            if origin.reads("changes") and not isinstance(of, exp.RowNumber) and not is_count:
                yield Finding(
                    "window_of_changes",
                    line_of(window),
                    f"{of.key}() over changes() sees only the rows that changed.",
                    "Only row_number() may choose among them. Otherwise use touched_keys() and pinned().",
                )
            elif keys and origin.reads("pinned") and not _is_within(window, keys, lineage):
                yield Finding(
                    "partial_window",
                    line_of(window),
                    f"{of.key}() reads rows of other keys than {' or '.join(map(', '.join, keys))}: a change "
                    "of one key affects rows of other keys, which this run does not recompute.",
                    "Partition it by these columns.",
                )


def _is_within(window: exp.Window, keys: Sequence[Sequence[str]], lineage: Lineage) -> bool:
    """Return whether each partition lies within one touched key, judged by column names."""
    parts = window.args.get("partition_by") or []
    partition = {column.name for part in parts for column in part.find_all(exp.Column)}
    if any(all(lineage.names_of(column) & partition for column in key) for key in keys):
        return True
    derived: set[str] = set()
    for select, sources in lineage.selects():
        origin = merged(sources.values())
        if origin.is_keys or (origin.keys and not aggregates_of(select) and select.args.get("group")):
            derived |= {column.alias_or_name for column in select.expressions}
    return bool(partition & derived - {column for key in keys for column in key})


def _unequal_join(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    unequal = (exp.LT, exp.GT, exp.LTE, exp.GTE, exp.NEQ, exp.Between)
    for select, sources in lineage.selects():
        keys = {
            alias
            for alias, origin in sources.items()
            if origin.is_keys and any(reading.kind == "touched_keys" for reading in origin.keys)
        }
        for join in select.args.get("joins") or []:
            condition = join.args.get("on")
            for comparison in condition.find_all(*unequal) if condition else ():
                if any(column.table in keys for column in comparison.find_all(exp.Column)):
                    yield Finding(
                        "unequal_join",
                        line_of(comparison),
                        "rows are joined to touched keys by an inequality: a change also affects other keys, "
                        "which this run does not recompute.",
                        "Join by equality, or compute the affected keys first.",
                    )


def _limit(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    for limit in model.tree.find_all(exp.Limit, exp.Fetch):
        yield Finding(
            "limit",
            line_of(limit),
            "`limit` chooses at random among ties; of changes(), it counts the rows of this run alone.",
            "Use row_number() within a key, ordered by columns that identify a row.",
        )


def _missing_is_deleted(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    keys = [reading for reading in model.readings.values() if reading.kind == "touched_keys"]
    touched = [reading for reading in keys if not tables.get(reading.relation, Table()).only_grows]
    final = lineage.final()
    if not touched or final is None:
        return
    names = [column.alias_or_name for column in final.expressions]
    if "_is_deleted" not in names and "*" not in names:
        yield Finding(
            "missing_is_deleted",
            min(line_of(column) for column in final.expressions),
            "a touched key that has no rows left stays in the table.",
            "Use a left join from the touched keys, and flag such keys as `_is_deleted`.",
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


def _pinned(readings: Iterable[Reading]) -> Iterator[Reading]:
    return (reading for reading in readings if reading.kind == "pinned" and reading.columns)


def _grouped(select: exp.Select) -> Iterator[exp.Column]:
    group = select.args.get("group")
    for part in group.expressions if group else ():
        if isinstance(part, exp.Literal) and not part.is_string:
            yield from select.expressions[int(part.this) - 1].find_all(exp.Column)
        else:
            yield from part.find_all(exp.Column)


Rule = Callable[[ModelSql, Lineage, Tables], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    _touched_column,
    _aggregate_of_changes,
    _window,
    _unequal_join,
    _limit,
    _missing_is_deleted,
    _unsettled,
    tied_order,
    text_order,
    partial_time,
)
