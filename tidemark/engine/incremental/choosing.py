"""Choose how a model's table is brought up to date after some of its sources changed."""

from __future__ import annotations

import re

from tidemark.engine.incremental.canonical import is_own_form
from tidemark.engine.incremental.deltas import bytes_read, delta
from tidemark.engine.incremental.folding import changed_groups
from tidemark.engine.incremental.measures import aggregate_of, is_small, may_overflow
from tidemark.engine.incremental.plan import Plan, full
from tidemark.engine.incremental.readings import clashing
from tidemark.engine.incremental.regions import Regions, choose_regions
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.tree import Node, leaves, reads
from tidemark.engine.incremental.unsupported import Unsupported

NESTED = ("array", "struct", "map", "variant", "interval")
FLOATING = ("float", "double")
MAX_READINGS = 2_500  # of tables in a statement: the changes at each place are joined with all other places


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
    read = [leaf.table for leaf in leaves(root)]
    moved = sum(table in request.changed for table in read)
    if request.is_clean and moved * len(read) <= MAX_READINGS and not request.partition and are_compared:
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
