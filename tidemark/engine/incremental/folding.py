"""Fold the changed rows of an aggregate into its present groups, without reading the groups' other rows.

Counts and sums are added to and subtracted from. A minimum or maximum cannot be subtracted, and a sum of no
values is NULL: groups for which the changed rows alone do not tell the new value are `lost`, and are
recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from tidemark.engine.incremental.canonical import quoted as in_backticks
from tidemark.engine.incremental.deltas import NOTHING, delta
from tidemark.engine.incremental.join_order import Known
from tidemark.engine.incremental.measures import Aggregate, Measure
from tidemark.engine.incremental.readings import SIGN, quoted
from tidemark.engine.incremental.tree import Block

LOST = "__tidemark_is_lost"
DELETED = "__tidemark_is_deleted"


def changed_groups(aggregate: Aggregate, changed: Iterable[str], known: Known = NOTHING) -> exp.Query:
    """Return the changed rows of an aggregate's input by group: `__tidemark_key_n`, and what `_sums` adds up.

    Args:
        aggregate: the aggregate.
        changed: the tables that changed.
        known: what is known of the tables.

    Raises:
        Unsupported: if the input is not linear in the changed tables.
    """
    keys = [f"__tidemark_key_{number}" for number in range(len(aggregate.keys))]
    values = [f"__tidemark_value_{number}" for number in range(len(aggregate.measures))]
    # rows that were added and removed again, or the other way round, change nothing
    grouped = quoted([*keys, *values])
    totals = [
        f"coalesce(sum(if(`{SIGN}` > 0, `__tidemark_value_{number}`, null)), 0) "
        f"- coalesce(sum(if(`{SIGN}` < 0, `__tidemark_value_{number}`, null)), 0) "
        f"as __tidemark_total_{number}"
        for number, measure in enumerate(aggregate.measures)
        if measure.function == "sum"
    ]
    net = (
        f"select {', '.join([grouped, f'sum(`{SIGN}`) as __tidemark_net', *totals])} from __tidemark_rows "
        f"group by {grouped} having sum(`{SIGN}`) <> 0"
    )
    sums = ["sum(__tidemark_net) as __tidemark_rows"]
    for number, measure in enumerate(aggregate.measures):
        sums += _sums(number, measure)
    by = f"group by {quoted(keys)}" if keys else "having count(*) > 0"
    query = f"select {', '.join([*map(in_backticks, keys), *sums])} from ({net}) as net {by}"
    parsed: exp.Query = exp.maybe_parse(query, dialect="spark")
    rows = delta(_rows(aggregate, keys, values), changed, known).subquery("__tidemark_rows")
    next(table for table in parsed.find_all(exp.Table) if table.name == "__tidemark_rows").replace(rows)
    return parsed


def _rows(aggregate: Aggregate, keys: list[str], values: list[str]) -> Block:
    """Return the aggregate's input: its keys and the values of its measures, a row for each row."""
    select = aggregate.block.select.copy()
    outputs = [
        exp.alias_(one.copy(), name, quoted=True)
        for name, one in zip(keys, aggregate.keys.values(), strict=True)
    ]
    for name, measure in zip(values, aggregate.measures, strict=True):
        outputs.append(exp.alias_(_counted(measure), name, quoted=True))
    select.set("expressions", outputs)
    for part in ("group", "order"):
        select.set(part, None)
    return Block(select, aggregate.block.items, aggregate.block.nested)


def _counted(measure: Measure) -> exp.Expr:
    """Return the value of a measure; of a count, whether there is a value: rows can be grouped by it."""
    if measure.value is None:
        return exp.Literal.number(1)
    if measure.function == "count":
        is_there = exp.Not(this=exp.Is(this=exp.paren(measure.value.copy()), expression=exp.Null()))
        return exp.If(this=is_there, true=exp.Literal.number(1), false=exp.Null())
    return measure.value.copy()


def _sums(number: int, measure: Measure) -> list[str]:
    value, name = f"`__tidemark_value_{number}`", f"__tidemark_sum_{number}"
    if measure.function in ("rows", "avg"):
        return []
    values = f"sum(if({value} is null, 0, __tidemark_net)) as __tidemark_number_{number}"
    if measure.function == "count":
        return [values]
    if measure.function == "sum":
        return [values, f"sum(__tidemark_total_{number}) as {name}"]
    return [
        f"{measure.function}(if(__tidemark_net > 0, {value}, null)) as {name}",
        f"{measure.function}(if(__tidemark_net < 0, {value}, null)) as __tidemark_gone_{number}",
    ]


def folded(aggregate: Aggregate, groups: str, table: str, types: dict[str, str]) -> str:
    """Return SQL for the new rows of the changed groups, flagged by LOST and DELETED.

    Args:
        aggregate: the aggregate.
        groups: what reads the result of `changed_groups`.
        table: what reads the model's table.
        types: the types of the table's columns.
    """
    columns, lost = [], []
    counter = next((one.name for one in aggregate.measures if one.function == "rows"), None)
    for number, name in enumerate(aggregate.keys):
        columns.append(f"changed.`__tidemark_key_{number}` as {in_backticks(name)}")
    for measure in aggregate.measures:
        value, is_lost = _new_value(aggregate, measure, types)
        columns.append(f"cast({value} as {types[measure.name]}) as {in_backticks(measure.name)}")
        lost += [is_lost] if is_lost else []
    rows = f"coalesce(present.{in_backticks(counter)}, 0) + changed.__tidemark_rows" if counter else None
    if aggregate.is_global:
        rows = "1"
    elif rows is None:
        # nothing counts the rows of a group: it may be empty if it lost more rows than it gained
        lost.append("present.__tidemark_is_present and changed.__tidemark_rows < 0")
        rows = "if(present.__tidemark_is_present, 1, changed.__tidemark_rows)"
    pairs = [
        f"changed.`__tidemark_key_{number}` <=> present.{in_backticks(name)}"
        for number, name in enumerate(aggregate.keys)
    ]
    on = " and ".join(pairs) or "true"
    any_lost = " or ".join(f"coalesce({one}, false)" for one in lost) or "false"
    return (
        f"select {', '.join(columns)}, ({any_lost}) and {rows} <> 0 as {LOST}, {rows} = 0 as {DELETED} "
        f"from {groups} as changed "
        f"left join (select *, true as __tidemark_is_present from {table}) as present on {on}"
    )


def suspects(aggregate: Aggregate) -> str:
    """Return the condition that a changed group must meet to be lost, as far as its changed rows tell."""
    found = []
    if not aggregate.is_global and all(one.function != "rows" for one in aggregate.measures):
        found.append("__tidemark_rows < 0")
    for number, measure in enumerate(aggregate.measures):
        if measure.function == "sum" and _new_value(aggregate, measure, {})[1]:
            found.append(f"__tidemark_number_{number} < 0")
        if measure.function in ("min", "max"):
            beyond = "<=" if measure.function == "min" else ">="
            stays = f"coalesce(__tidemark_sum_{number} {beyond} __tidemark_gone_{number}, false)"
            found.append(f"__tidemark_gone_{number} is not null and not {stays}")
    return " or ".join(f"({one})" for one in found) or "false"


def _new_value(aggregate: Aggregate, measure: Measure, types: Mapping[str, str]) -> tuple[str, str | None]:
    """Return SQL for a measure's new value, and SQL that is true if the value cannot be told; or None."""
    number = aggregate.measures.index(measure)
    present, changed = f"present.{in_backticks(measure.name)}", f"changed.__tidemark_sum_{number}"
    if measure.function == "rows":
        return f"coalesce({present}, 0) + changed.__tidemark_rows", None
    if measure.function == "count":
        return f"coalesce({present}, 0) + changed.__tidemark_number_{number}", None
    if measure.function == "sum":
        return _new_sum(aggregate, measure, number, types)
    if measure.function == "avg":
        total, counter = aggregate.total(measure), aggregate.counter(measure)
        assert total is not None  # noqa: S101
        assert counter is not None  # noqa: S101
        new = [_new_value(aggregate, one, types)[0] for one in (total, counter)]
        return f"try_divide({new[0]}, {new[1]})", None
    gone = f"changed.__tidemark_gone_{number}"
    keep = "least" if measure.function == "min" else "greatest"
    beyond = "<=" if measure.function == "min" else ">="
    return (
        f"{keep}({present}, {changed})",
        f"{gone} = {present} and not coalesce({changed} {beyond} {gone}, false)",
    )


def _new_sum(
    aggregate: Aggregate, measure: Measure, place: int, types: Mapping[str, str]
) -> tuple[str, str | None]:
    present, number = f"present.{in_backticks(measure.name)}", f"changed.__tidemark_number_{place}"
    # of the column's type: an addition of wider decimals would round
    changed = f"cast(changed.__tidemark_sum_{place} as {types.get(measure.name, 'bigint')})"
    added = f"coalesce({present}, 0) + coalesce({changed}, 0)"
    counter = aggregate.counter(measure)
    if measure.zero or (measure.has_value and not aggregate.is_global):
        return added, None
    if counter is not None:
        return f"if({_new_value(aggregate, counter, types)[0]} = 0, null, {added})", None
    return f"if({present} is null and {number} = 0, null, {added})", f"{number} < 0"
