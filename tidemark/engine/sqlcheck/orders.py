"""Refuse functions whose result depends on the order of rows, where the SQL leaves that order open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from tidemark.engine.sqlcheck.finding import Finding, Tables
from tidemark.engine.sqlcheck.grains import Grains, grouped
from tidemark.engine.sqlcheck.joined import Column, Joined
from tidemark.engine.sqlcheck.lineage import Lineage, aggregates_of, line_of
from tidemark.engine.sqlcheck.order_calls import LISTS, POSITION, VALUE, Call, aggregates, windows
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER, ModelSql


def tied_order(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    """Yield a finding for each function that chooses among rows that nothing tells apart."""
    del lineage
    grains = Grains(model, tables)
    for select in model.tree.find_all(exp.Select):
        calls = [*windows(select), *aggregates(select, model)]
        if not calls:
            continue
        joined = grains.joined(select)
        for call in calls:
            over_groups = call.is_window and (select.args.get("group") or aggregates_of(select))
            missing = _open_groups(call, select, joined) if over_groups else _open_rows(call, select, joined)
            if missing:
                yield Finding("tied_order", line_of(call.place), _message(call), _fix(call, missing))


def _given(orders: Iterable[exp.Expr], select: exp.Select, joined: Joined) -> set[Column]:
    """Return the columns in which rows are equal that are equal in their order."""
    found: set[Column] = set()
    for one in orders:
        found |= joined.columns(one)
        for column in one.find_all(exp.Column):
            if joined.column(column) is None:  # of one of the sources, or of a macro: taken for the key
                found |= {(alias, column.name.lower()) for alias in joined.sources}
            for output in select.expressions:
                if isinstance(output, exp.Alias) and output.alias == column.name and not column.table:
                    found |= joined.columns(output.this)
    return found


def _open_rows(call: Call, select: exp.Select, joined: Joined) -> list[str]:
    """Return the columns that an order lacks; none if they are there, or not known."""
    if not joined.sources or any(column.name.startswith("__other_") for column in _columns(call.orders)):
        return []  # a macro may give any order
    known, whole = joined.follows(_given(call.orders, select, joined))
    if call.kind == POSITION:
        aliases = [alias for alias in joined.sources if alias not in whole]
        if not all(joined.sources[alias].keys for alias in aliases):
            return []
        return _shortest(joined.found_keys(), joined, known) if aliases else []
    used = [joined.column(column) for column in _columns(_arguments(call))]
    open_columns = [one for one in used if one is None or (one not in known and one[0] not in whole)]
    if None in open_columns:
        return []
    aliases = list(dict.fromkeys(one[0] for one in open_columns if one and joined.sources[one[0]].keys))
    keys = [
        [frozenset((alias, name) for name in key) for key in joined.sources[alias].keys] for alias in aliases
    ]
    return [name for some in keys for name in _shortest(some, joined, known)]


def _arguments(call: Call) -> list[exp.Expr]:
    """Return what a function returns a value of, without its order."""
    value = call.function.this
    if isinstance(value, exp.Order):
        value = value.this
    return [value] if isinstance(value, exp.Expr) else []


def _shortest(keys: Iterable[frozenset[Column]], joined: Joined, known: set[Column]) -> list[str]:
    """Return the columns of the key that needs the fewest more."""
    best = min((sorted(key - known) for key in keys), key=len)
    if any(name == LANDING_ORDER for _, name in best):
        return ["{{ landing_order() }}"]
    return [f"{alias}.{name}" if len(joined.sources) > 1 else name for alias, name in best]


def _open_groups(call: Call, select: exp.Select, joined: Joined) -> list[str]:
    """Return the groups that the order of a window over groups lacks."""
    group = select.args.get("group")
    if group is None or any(group.args.get(name) for name in ("all", "rollup", "cube", "grouping_sets")):
        return []
    orders = [grouped(one, select) for one in call.orders]
    if call.kind == VALUE and all(argument in orders for argument in _arguments(call)):
        return []
    known, whole = joined.follows(_given(orders, select, joined))
    lacking = []
    for part in (grouped(one, select) for one in group.expressions):
        columns = [joined.column(one) for one in part.find_all(exp.Column)]
        if part in orders or any(one is None for one in columns):
            continue
        if not all(one in known or one[0] in whole for one in columns if one):
            names = [one.alias_or_name for one in select.expressions if one.unalias() == part]
            lacking.append(names[0] if names else part.sql("spark"))
    return lacking


def _columns(parts: Iterable[exp.Expr]) -> list[exp.Column]:
    return [column for part in parts for column in part.find_all(exp.Column)]


def _message(call: Call) -> str:
    words = [f"`{one.sql('spark')}`" for one in call.orders if LANDING_ORDER not in one.sql("spark")]
    rows = f"rows that are equal in {', '.join(words)}" if words else "its rows"
    return f"{call.name}() depends on the order of {rows}, which is another in each computation."


def _fix(call: Call, missing: list[str]) -> str:
    columns = ", ".join(one if one.startswith("{{") else f"`{one}`" for one in missing)
    plain = ", ".join(missing)
    value = next(iter(_arguments(call)), exp.Star()).sql("spark")
    if call.is_window and not isinstance(call.function, (exp.ArgMax, exp.ArgMin)):
        return f"Add {columns} to the end of its `order by`."
    if isinstance(call.function, (exp.ArgMax, exp.ArgMin)):
        by = call.function.expression.sql("spark")
        return f"Add {columns} to its order: `{call.name}({value}, struct({by}, {plain}))`."
    if isinstance(call.function, exp.GroupConcat):
        return f"Add {columns} to the end of `within group (order by …)`."
    if isinstance(call.function, LISTS):
        return f"Sort the list: `sort_array({call.name}({value}))`."
    if isinstance(call.function, exp.Mode):
        return f"Use `mode({value}, true)`: it takes the least of the most frequent values."
    chosen = f"min_by({value}, struct({plain}))" if len(missing) > 1 else f"min_by({value}, {plain})"
    return f"Use `min({value})`, or order by {columns}: `{chosen}`."
