"""Find the smallest history for which a table still differs from its rebuild."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.engine.prove.drawing import Drawn, History, Row, in_one_commit
from tidemark.engine.prove.lifting import HISTORY
from tidemark.engine.prove.proof import Model, Tried, try_histories

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 25
CHANGE = "_change_type"


def shrink(
    spark: SparkSession,
    model: Model,
    changed: Iterable[str],
    drawn: Drawn,
    index: int,
) -> tuple[Drawn, Tried, list[Row]]:
    """Leave out rows, changes and commits, one at a time, while the table differs.

    Args:
        spark: the session.
        model: the model.
        changed: the sources that changed.
        drawn: the histories of each source.
        index: the number of the history that differs.

    Returns:
        The smallest history that was found, what it showed, and the rows of the rebuild.
    """
    names = tuple(changed)
    smallest = {name: [histories[index]] for name, histories in drawn.items()}
    commits = not try_histories(spark, model, names, smallest, commits=False).wrong
    for _ in range(ROUNDS):
        smaller = list(_smaller(smallest))
        if not smaller:
            break
        batch = {name: [one[name][0] for one in smaller] for name in smallest}
        tried = try_histories(spark, model, names, batch, commits=commits)
        if not tried.wrong:
            break
        number = min(tried.wrong)
        smallest = smaller[number]
    shown = try_histories(spark, model, names, smallest, commits=commits)
    rebuilt = [row.asDict() for row in spark.table("prove_rebuild").drop(HISTORY).collect()]
    return smallest, shown, rebuilt


def _smaller(drawn: Drawn) -> Iterator[Drawn]:
    """Yield histories with one thing less: all commits but one, a row, a change."""
    for name, (history,) in drawn.items():
        once = in_one_commit(history.before, history.after)
        if len(once.changes) < len(history.changes):
            yield {**drawn, name: [once]}
        for fewer in _with_fewer_steps(history.changes):
            yield {**drawn, name: [replace(history, changes=fewer)]}
    for name, (history,) in drawn.items():
        for place in {**history.before, **history.after}:
            yield {
                **drawn,
                name: [in_one_commit(*(_without(rows, place) for rows in (history.before, history.after)))],
            }
            if history.before.get(place) != history.after.get(place) and place in history.before:
                yield {**drawn, name: [_unchanged(history, place)]}


Step = tuple[Row | None, Row | None]  # a row before and after a change


def _with_fewer_steps(changes: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield changes in which two that follow each other, of one row, are one change."""
    steps = list(_steps(changes))
    for first, (old, between) in enumerate(steps):
        later = (number for number in range(first + 1, len(steps)) if steps[number][0] == between)
        last = next(later, None) if between is not None else None
        if last is not None:
            kept = [step for number, step in enumerate(steps) if number not in (first, last)]
            kept.insert(last - 1, (old, steps[last][1]))
            yield [row for step in kept for row in _rows(*step)]


def _steps(changes: Sequence[Row]) -> Iterator[Step]:
    rows = iter(changes)
    for row in rows:
        values = {name: value for name, value in row.items() if name != CHANGE}
        if row[CHANGE] == "update_preimage":
            yield values, {name: value for name, value in next(rows).items() if name != CHANGE}
        else:
            yield (None, values) if row[CHANGE] == "insert" else (values, None)


def _rows(old: Row | None, new: Row | None) -> Iterator[Row]:
    if old == new:
        return
    if old is None or new is None:
        yield {**(old or new or {}), CHANGE: "insert" if old is None else "delete"}
        return
    yield {**old, CHANGE: "update_preimage"}
    yield {**new, CHANGE: "update_postimage"}


def _without(rows: dict[object, dict[str, object]], place: object) -> dict[object, dict[str, object]]:
    return {other: row for other, row in rows.items() if other != place}


def _unchanged(history: History, place: object) -> History:
    return in_one_commit(history.before, {**history.after, place: history.before[place]})
