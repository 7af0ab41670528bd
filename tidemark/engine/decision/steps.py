"""How a model's table is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

from tidemark.engine.decision.facts import Command
from tidemark.engine.decision.states import (
    CODE_CHANGED,
    FIRST_RUN,
    GRAIN_CHANGED,
    NOTHING_NEW,
    REBUILDS,
    REPAIR,
)
from tidemark.engine.decision.ways import DERIVED, REPLACES, Way


class Step(StrEnum):
    """What a run does with a model's table."""

    DATES = "dates"  # rebuild a range of dates
    COLUMNS = "columns"  # rebuild columns
    LIMITED = "limited"  # write a part of the rows, into a table of its own
    REPLACE = "replace"  # write the whole table
    NOTHING = "nothing"
    ADD = "add"  # write an increment


class Addition(StrEnum):
    """How an increment is written."""

    CHANGES = "changes"  # from the changes of the sources, or the difference of the whole query
    PARTITIONS = "partitions"  # the partitions that the query names are replaced
    BAG = "bag"  # what differs from the whole query: there is no key
    MERGE = "merge"


def keeps_rows(way: Way, command: Command, exists: bool) -> bool:
    """Return whether rows stay that the query no longer gives."""
    return way.accumulates and exists and not command.full_refresh


def step_of(way: Way, command: Command, exists: bool, states: Collection[str], has_sources: bool) -> Step:
    """Decide what a run does with a model's table.

    Args:
        way: how the model is written.
        command: what the command asks.
        exists: whether there is a table or view of its name.
        states: how its sources are read.
        has_sources: whether it reads a table.
    """
    if command.dates:
        return Step.DATES
    if command.columns:
        return Step.COLUMNS
    if command.is_limited and has_sources and not way.why_unproven:
        return Step.LIMITED
    reads_all = any(state in (FIRST_RUN, *REBUILDS) for state in states)
    if not exists or command.full_refresh or (reads_all and not keeps_rows(way, command, exists)):
        return Step.REPLACE
    return Step.NOTHING if set(states) == {NOTHING_NEW} else Step.ADD


def can_stay(state: str, table: Mapping[str, str], query: Mapping[str, str]) -> bool:
    """Return whether a table that is rebuilt can stay, and only the rows that differ are written.

    Args:
        state: how the model reads its sources.
        table: the types of the table's columns, by name.
        query: those of the query's.
    """
    return state in (CODE_CHANGED, REPAIR) and list(table.items()) == list(query.items())


def are_few(counts: Mapping[str, int | None], rows: int) -> bool:
    """Return whether so few rows differ that writing them costs less than a new table.

    Args:
        counts: the number of rows by outcome.
        rows: the rows of the table.
    """
    return sum(counts.get(outcome) or 0 for outcome in ("inserted", "updated", "deleted")) <= rows / 2


def addition_of(way: Way, command: Command, config: Mapping[str, Any], has_key: bool) -> Addition:
    """Decide how an increment is written.

    Args:
        way: how the model is written.
        command: what the command asks.
        config: its config.
        has_key: whether rows of the query can be found in the table.
    """
    if way.name == DERIVED and not command.is_limited:
        return Addition.CHANGES
    if config.get("incremental_strategy") == REPLACES:
        return Addition.PARTITIONS
    return Addition.MERGE if has_key else Addition.BAG


def refused_grain(name: str, state: str, keeps: bool, config: Mapping[str, Any]) -> str:
    """Return why a model that keeps rows cannot add to them, with the ways out; empty if it can.

    Args:
        name: the model.
        state: how it reads its sources.
        keeps: whether rows stay that the query no longer gives.
        config: its config.
    """
    if not keeps or state != GRAIN_CHANGED:
        return ""
    setting = ", without `full_refresh: false`" if config.get("full_refresh") is False else ""
    return (
        f"{name}: its unique_key, newest_by, insert_only or prune_by has changed, and the rows that it keeps "
        "were written by the earlier one. Undo the change, or build the table again from what its sources "
        f"have now: `dbt run --full-refresh --select {name}`{setting}."
    )
