"""How a model's table is brought up to date after some of its sources changed: the text of its queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tidemark.engine.incremental.canonical import any_of_equal, comparable
from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.deltas import bytes_read, delta
from tidemark.engine.incremental.folding import DELETED, changed_groups, folded, suspects
from tidemark.engine.incremental.join_order import Known
from tidemark.engine.incremental.measures import Aggregate
from tidemark.engine.incremental.readings import SIGN, filled, present, quoted
from tidemark.engine.incremental.regions import Regions
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.tree import Node, leaves, render

Readings = Mapping[str, Mapping[str, str]]
NET = "__tidemark_net"  # how many copies of a row of the result come, or go if it is negative
VALUE = "`__tidemark_value`"  # stands for the expression in a condition on a region's values


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


def _put_into(condition: str) -> Callable[[str], str]:
    return lambda expression: condition.replace(VALUE, f"({expression})")


def _is_among(name: str, touched: str) -> str:
    """Return the condition that the value of a column is one of a touched region."""
    values = f"(select {one_quoted(name)} as __tidemark_sought from {touched}) as sought"
    return f"exists (select 1 from {values} where sought.__tidemark_sought <=> {VALUE})"


def full(request: Request, why: str) -> Plan:
    """Return the plan for a query that must be computed in full."""
    return Plan("full", request, why)
