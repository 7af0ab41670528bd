"""Choose how a model's table is brought up to date after some of its sources changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.incremental.canonical import any_of_equal, comparable, is_own_form
from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.deltas import bytes_read, delta
from tidemark.engine.incremental.folding import DELETED, changed_groups, folded, suspects
from tidemark.engine.incremental.join_order import Known
from tidemark.engine.incremental.measures import Aggregate, aggregate_of, is_small, may_overflow
from tidemark.engine.incremental.readings import SIGN, clashing, filled, present, quoted
from tidemark.engine.incremental.regions import Regions, choose_regions
from tidemark.engine.incremental.tree import Node, leaves, reads, render
from tidemark.engine.incremental.unsupported import Unsupported

Readings = Mapping[str, Mapping[str, str]]
NET = "__tidemark_net"  # how many copies of a row of the result come, or go if it is negative
VALUE = "`__tidemark_value`"  # stands for the expression in a condition on a region's values
NESTED = ("array", "struct", "map", "variant", "interval")
FLOATING = ("float", "double")


@dataclass(frozen=True)
class Request:
    """What a plan is made from.

    Attributes:
        key: the columns of the model's key; empty if rows may repeat.
        types: the types of its columns, by name.
        changed: the tables that changed since the model's last run.
        never_null: columns of its sources that hold no NULL, as `schema.table.column`.
        is_clean: whether the table is exactly as its last recorded run left it.
        sizes: the bytes of the sources; empty if they are not known.
        size: the bytes of the model's table.
        partition: the column whose partitions are to be replaced as a whole, or empty.
        known_keys: the keys of the sources, by `schema.table`, for a model without a key of its own.
        maintain: the setting `meta.maintain`.
        why_full: why the query is computed in full, though its changes may be applied; empty if they are.
        few: the changed tables with so few changed rows that these can be sent to all tasks of a join.
        removes: whether the changes may have removed or replaced rows.
    """

    key: tuple[str, ...]
    types: Mapping[str, str]
    changed: frozenset[str]
    never_null: frozenset[str] = frozenset()
    is_clean: bool = True
    partition: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    size: int = 0
    known_keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    maintain: str = "auto"
    why_full: str = ""
    few: frozenset[str] = frozenset()
    removes: bool = True

    @property
    def known(self) -> Known:
        """What is known of the tables."""
        return Known(self.few, self.sizes)


@dataclass(frozen=True)
class Plan:
    """How the table is brought up to date.

    Attributes:
        way: `rows`: the changed rows of the result follow from those of the sources; `folded`: changed rows
            are added to and subtracted from the present groups; `regions`: the touched regions are
            recomputed; `full`: the query is computed in full and compared with the table.
        request: what the plan was made from.
        why: for `full`, the construct that needs it.
        root: the query.
        regions: the regions, also for the groups that folding loses.
        aggregate: for `folded`, the aggregate.
    """

    way: str
    request: Request
    why: str = ""
    root: Node | None = None
    regions: Regions | None = None
    aggregate: Aggregate | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the regions."""
        return self.regions.columns if self.regions else ()

    @property
    def how(self) -> str:
        """The way in words."""
        if self.way == "regions":
            return f"touched {', '.join(self.columns)}"
        return {"rows": "changed rows", "folded": "folded", "full": f"full: {self.why}"}[self.way]

    @property
    def bytes_joined(self) -> int | None:
        """The bytes of the tables that the changes are joined with; None where the changes decide that."""
        if self.way not in ("rows", "folded") or self.root is None or not self.request.sizes:
            return None
        return int(bytes_read(self.root, self.request.changed, Known(frozenset(), self.request.sizes)))

    @property
    def joins(self) -> bool:
        """Whether the changes are joined with other tables: they are not to be computed twice."""
        return self.root is not None and len(list(leaves(self.root))) > 1

    def reads_previous(self, readings: Readings) -> bool:
        """Return whether the plan reads the rows of a table at the version of the last run."""
        probe = {table: {**one, "previous": "__tidemark_previous_rows"} for table, one in readings.items()}
        if self.way == "rows":
            return "__tidemark_previous_rows" in self.net_rows(probe)
        return "__tidemark_previous_rows" in (
            self.changed_groups(probe) if self.way == "folded" else self.touched(probe)
        )

    def whole(self, readings: Readings) -> str:
        """Return SQL for all rows of the query."""
        assert self.root is not None  # noqa: S101
        return filled(render(self.root, present), readings)

    def touched(self, readings: Readings) -> str:
        """Return SQL for the touched regions."""
        assert self.regions is not None  # noqa: S101
        return filled(self.regions.touched(self.request.few), readings)

    def recomputed(
        self,
        readings: Readings,
        conditions: Mapping[str, str],
        touched: str | None,
        sought: Collection[str] = (),
    ) -> str:
        """Return SQL for the query's rows in the touched regions.

        Args:
            readings: what reads the tables.
            conditions: for each column of the regions, the condition that `__tidemark_value` is among its
                touched values.
            touched: what reads the touched regions, if the conditions let other regions pass; else None.
            sought: the columns whose touched values each table looks up in the touched regions, as the
                conditions have only their bounds.
        """
        assert self.regions is not None  # noqa: S101
        within: dict[str, Callable[[str], str]] = {
            name: _put_into(f"{conditions[name]} and {_is_among(name, touched)}")
            if touched and name in sought
            else _put_into(conditions[name])
            for name in self.columns
        }
        query = filled(self.regions.restricted(within), readings)
        kept = [conditions[name].replace(VALUE, f"result.{one_quoted(name)}") for name in self.columns]
        columns = ", ".join(f"result.{one_quoted(name)}" for name in self.request.types)
        on = " and ".join(
            f"result.{one_quoted(name)} <=> touched.{one_quoted(name)}" for name in self.columns
        )
        semi = f" left semi join {touched} as touched on {on}" if touched else ""
        return f"select {columns} from ({query}) as result{semi} where {' and '.join(kept)}"

    def net_rows(self, readings: Readings) -> str:
        """Return SQL for the distinct rows of the result that come or go, with the number of copies."""
        assert self.root is not None  # noqa: S101
        rows = filled(delta(self.root, self.request.changed, self.request.known), readings)
        return (
            f"select {any_of_equal(self.request.types)}, sum(`{SIGN}`) as {NET} from ({rows}) as rows "
            f"group by {self._equal()} having sum(`{SIGN}`) <> 0"
        )

    def changed_rows(self, readings: Readings) -> str:
        """Return SQL for the changed rows of the result, with their flags.

        `__tidemark_is_deleted` tells a row that went. `__tidemark_is_new` tells a row whose key had no row
        before. Where the table has one, the query returns two rows of one key, and the run must stop as a
        rebuild would.
        """
        columns, key = quoted(self.request.types), quoted(self.request.key)
        by_key = (
            f"select *, max(__tidemark_net) over (partition by {key}) as __tidemark_best, "
            f"min(__tidemark_net) over (partition by {key}) as __tidemark_least "
            f"from ({self.net_rows(readings)}) as net"
        )
        repeated = (
            f"(select {columns}, __tidemark_net, __tidemark_best, __tidemark_least, "
            f"explode(sequence(1, greatest(__tidemark_net, 1))) as __tidemark_copy from ({by_key}) as by_key)"
        )
        return (
            f"select {columns}, __tidemark_net < 0 as {DELETED}, __tidemark_least > 0 as __tidemark_is_new "
            f"from {repeated} as repeated where __tidemark_net > 0 or __tidemark_best < 0"
        )

    def _equal(self) -> str:
        """Return the values by which equal rows of the result are grouped."""
        return ", ".join(
            comparable(f"rows.{one_quoted(name)}", kind, zeros=True)
            for name, kind in self.request.types.items()
        )

    def changed_groups(self, readings: Readings) -> str:
        """Return SQL for the changed rows of an aggregate, added up by group."""
        assert self.aggregate is not None  # noqa: S101
        return filled(changed_groups(self.aggregate, self.request.changed, self.request.known), readings)

    @property
    def suspects(self) -> str:
        """The condition on the changed rows of a group that its new value may need its other rows."""
        assert self.aggregate is not None  # noqa: S101
        return suspects(self.aggregate)

    def folded(self, groups: str, table: str) -> str:
        """Return SQL for the new rows of the changed groups, with the flags of `folding.folded`."""
        assert self.aggregate is not None  # noqa: S101
        return folded(self.aggregate, groups, table, dict(self.request.types))


def choose_plan(root: Node, request: Request) -> Plan:
    """Choose the cheapest way that gives the table of a rebuild.

    A table that an interrupted run has written already is not the one that changes can be added to: it is
    recomputed in the touched regions, if no join is needed to find them, or else in full.

    Args:
        root: the query.
        request: the model's key, its types and the tables that changed.
    """
    if unfit := _unfit_names(root, request):
        return Plan("full", request, unfit, root)
    if not reads(root, request.changed):
        return full(request, "a source that the query does not read")
    are_compared = all(is_own_form(request.types.get(name, "")) for name in request.key)
    if request.is_clean and not request.partition and are_compared:
        for choose in (_by_rows, _by_folding):
            try:
                plan = choose(root, request)
            except Unsupported:
                continue
            if request.maintain != "always" and _reads_more(root, request):
                return full(request, "its changes are joined with more bytes than the whole query reads")
            return plan
    key = (request.partition,) if request.partition else request.key
    columns = [name for name, kind in request.types.items() if not kind.lower().startswith(NESTED)]
    try:
        regions = choose_regions(root, request.changed, key, columns, may_join=request.is_clean)
    except Unsupported as found:
        return Plan("full", request, found.where, root)
    return Plan("regions", request, "", root, regions)


def _reads_more(root: Node, request: Request) -> bool:
    """Return whether the changes are joined with more bytes than the whole query reads."""
    read = bytes_read(root, request.changed, request.known)
    return read > request.known.bytes_of(root) + request.size


def _unfit_names(root: Node, request: Request) -> str:
    """Return the column whose name does not let the query be taken apart, in words, or nothing."""
    for leaf in leaves(root):
        if found := clashing(leaf):
            return f"{leaf.table} with a column {found[0]}"
    unnamed = next((name for name in request.types if name not in root.names), "")
    return f"the column {unnamed} without a name of its own: give it one with `as`" if unnamed else ""


def _by_rows(root: Node, request: Request) -> Plan:
    delta(root, request.changed)
    return Plan("rows", request, "", root)


def _by_folding(root: Node, request: Request) -> Plan:
    aggregate = aggregate_of(root, request.key, request.never_null)
    for measure in aggregate.measures:
        kind = request.types[measure.name].lower()
        if measure.function != "avg" and kind in FLOATING:
            raise Unsupported(f"{measure.function} of floating-point numbers")
        if measure.function == "sum" and (_rounds(kind) or may_overflow(measure)):
            raise Unsupported(f"a sum of type {kind}")
        if measure.function == "avg" and not is_small(measure):
            # Spark adds up wide integers as doubles, and rounds the mean of decimals in another way
            raise Unsupported("an average of other numbers than small integers")
    changed_groups(aggregate, request.changed)
    return Plan(
        "folded", request, "", root, Regions(root, request.key, request.changed, frozenset()), aggregate
    )


def _rounds(kind: str) -> bool:
    """Return whether Spark rounds the sum of two decimals of a type, to have 38 digits."""
    digits = re.fullmatch(r"decimal\((\d+), ?(\d+)\)", kind)
    return digits is not None and int(digits[1]) == 38 and int(digits[2]) > 6


def _put_into(condition: str) -> Callable[[str], str]:
    return lambda expression: condition.replace(VALUE, f"({expression})")


def _is_among(name: str, touched: str) -> str:
    """Return the condition that the value of a column is one of a touched region."""
    values = f"(select {one_quoted(name)} as __tidemark_sought from {touched}) as sought"
    return f"exists (select 1 from {values} where sought.__tidemark_sought <=> {VALUE})"


def full(request: Request, why: str) -> Plan:
    """Return the plan for a query that must be computed in full."""
    return Plan("full", request, why)


def request_of(values: Mapping[str, Any]) -> Request:
    """Return a request from values that a macro or a note gives."""
    lists = {
        name: frozenset(part.lower() for part in values.get(name, ()))
        for name in ("changed", "never_null", "few")
    }
    key = tuple(name.lower() for name in values["key"])
    types = {name.lower(): kind for name, kind in values["types"].items()}
    partition = str(values.get("partition", "")).lower()
    return Request(**{**values, **lists, "key": key, "types": types, "partition": partition})
