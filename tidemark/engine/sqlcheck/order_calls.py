"""Functions whose result depends on the order of rows, where a select uses them.

rank(), dense_rank(), percent_rank(), cume_dist() and windows with a `range` frame (the default) give equal
rows equal results: they need no order without ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from tidemark.engine.sqlcheck.grains import grouped
from tidemark.engine.sqlcheck.parsing import ModelSql

POSITION, VALUE = "position", "value"
# `position`: the result depends on the place of each row among equal ones; `value`: on which of the equal
# rows it is taken from, and so on nothing if they have the same value.
FUNCTIONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.RowNumber: ("row_number", POSITION),
    exp.Ntile: ("ntile", POSITION),
    exp.Lag: ("lag", POSITION),
    exp.Lead: ("lead", POSITION),
    exp.First: ("first", VALUE),
    exp.FirstValue: ("first_value", VALUE),
    exp.Last: ("last", VALUE),
    exp.LastValue: ("last_value", VALUE),
    exp.NthValue: ("nth_value", VALUE),
    exp.AnyValue: ("any_value", VALUE),
    exp.ArgMax: ("max_by", VALUE),
    exp.ArgMin: ("min_by", VALUE),
    exp.ArrayAgg: ("collect_list", VALUE),
    exp.ArrayUniqueAgg: ("collect_set", VALUE),
    exp.GroupConcat: ("listagg", VALUE),
    exp.Mode: ("mode", VALUE),
}
RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
BY_FRAME = (exp.FirstValue, exp.First, exp.LastValue, exp.Last, exp.AnyValue)
LISTS = (exp.ArrayAgg, exp.ArrayUniqueAgg)
ORDERLESS = (
    exp.ArraySort,
    exp.ArraySize,
    exp.ArrayMax,
    exp.ArrayMin,
    exp.ArrayContains,
    exp.ArrayOverlaps,
    exp.Exists,
    exp.Explode,
    exp.Reduce,
)
ALSO_ORDERLESS = ("cardinality", "forall")
WRAPPERS = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)


@dataclass
class Call:
    """One use of a function.

    Attributes:
        function: the function.
        kind: `position` or `value`.
        orders: what its rows are grouped, partitioned and ordered by.
        place: where the finding is reported.
    """

    function: exp.Expr
    kind: str
    orders: list[exp.Expr]
    place: exp.Expr

    @property
    def name(self) -> str:
        """Return the function's name in SQL."""
        return FUNCTIONS.get(type(self.function), (self.function.key, ""))[0]

    @property
    def is_window(self) -> bool:
        """Return whether the function has a window."""
        return isinstance(self.place, exp.Window)


def windows(select: exp.Select) -> Iterator[Call]:
    """Yield the functions of a select over a window that depend on the order of equal rows."""
    named = {one.name: one for one in select.args.get("windows") or []}
    for window in select.find_all(exp.Window):
        if window.parent_select is not select or window.arg_key == "windows":
            continue
        function = _unwrapped(window.this)
        meant = named.get(window.alias, window)
        kind = _kind(function, meant.args.get("spec"))
        if kind and not isinstance(function, RANKS) and not _loses_order(function, window):
            order = meant.args.get("order")
            terms = [one.this for one in order.expressions] if order else []
            orders = [*(meant.args.get("partition_by") or []), *terms]
            if isinstance(function, (exp.ArgMax, exp.ArgMin)):
                orders.append(function.expression)
            yield Call(function, kind, orders, window)


def _kind(function: exp.Expr, spec: exp.Expr | None) -> str:
    """Return how a function over a window depends on the order of equal rows; empty if it does not."""
    kind = FUNCTIONS.get(type(function), ("", ""))[1]
    if spec is None or str(spec.args.get("kind")).upper() != "ROWS":
        return kind
    start, end = str(spec.args.get("start")), str(spec.args.get("end") or "CURRENT ROW")
    if start == "UNBOUNDED" and (
        end == "UNBOUNDED" or (isinstance(function, BY_FRAME) and end == "CURRENT ROW")
    ):
        return kind
    return POSITION


def aggregates(select: exp.Select, model: ModelSql) -> Iterator[Call]:
    """Yield the aggregates of a select that depend on the order of equal rows."""
    group = select.args.get("group")
    if group is not None and any(group.args.get(name) for name in ("all", "rollup", "cube", "grouping_sets")):
        return
    by = [grouped(part, select) for part in group.expressions] if group else []
    for found in select.find_all(*FUNCTIONS):
        if found.parent_select is not select or found.find_ancestor(exp.Window, exp.Select) is not select:
            continue
        if FUNCTIONS[type(found)][1] != VALUE or _loses_order(found, found) or _is_sorted_above(found, model):
            continue
        if isinstance(found, exp.Mode) and (found.args.get("deterministic") or not found.this):
            continue
        order = found.find(exp.Order) or _within_group(found)
        terms = [one.this for one in order.expressions] if order else []
        if isinstance(found, (exp.ArgMax, exp.ArgMin)):
            terms = [found.expression]
        yield Call(found, VALUE, [*by, *terms], found)


def _within_group(function: exp.Expr) -> exp.Order | None:
    holder = function.find_ancestor(exp.WithinGroup, exp.Select)
    return holder.find(exp.Order) if isinstance(holder, exp.WithinGroup) else None


def _unwrapped(function: exp.Expr) -> exp.Expr:
    while isinstance(function, WRAPPERS):
        function = function.this
    return function


def _loses_order(function: exp.Expr, place: exp.Expr) -> bool:
    """Return whether a list is sorted, counted or searched where it is made."""
    if not isinstance(function, LISTS):
        return False
    above = place.parent
    while above is not None and not isinstance(above, exp.Select):
        if isinstance(above, ORDERLESS) or (
            isinstance(above, exp.Anonymous) and above.name.lower() in ALSO_ORDERLESS
        ):
            return True
        above = above.parent
    return False


def _is_sorted_above(function: exp.Expr, model: ModelSql) -> bool:
    """Return whether a query that reads the list sorts, counts or searches it."""
    alias = function.find_ancestor(exp.Alias, exp.Select)
    if not isinstance(function, LISTS) or not isinstance(alias, exp.Alias):
        return False
    used = model.tree.find_all(*ORDERLESS)
    return any(isinstance(one.this, exp.Column) and one.this.name == alias.alias for one in used)
