"""A history that differs, as a story and as a unit test of dbt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidemark.base.output import first_of
from tidemark.engine.prove.counterexample import flow
from tidemark.engine.prove.drawing import Row
from tidemark.engine.prove.stock.chains import Chain
from tidemark.engine.prove.stock.changes import times_of
from tidemark.engine.prove.stock.history import History
from tidemark.engine.prove.stock.running import Outcome, difference
from tidemark.engine.prove.stock.settings import MICROBATCH
from tidemark.engine.prove.stock.trying import FAILS, KEPT, Finding, effect_of, with_roles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN = 8  # columns of a row


def story(chain: Chain, finding: Finding) -> list[str]:
    """Return the smallest history in lines: what runs read, what changed, and what is wrong at the end."""
    assert finding.smallest is not None  # noqa: S101
    history, outcome = finding.smallest
    lines = ["run 1 reads"]
    lines += _indented(
        f"{chain.inputs[view].title}: {shown(row, _telling(chain, view))}"
        for view, rows in history.before.items()
        for row in rows.values()
    ) or ["    no rows"]
    for number, changes in enumerate(history.steps, start=2):
        lines.append(f"before run {number}, a day later:")
        told = []
        for change in changes:
            row = change.row if change.row is not None else _before(history, change.view, change.place)
            text = shown(row, _telling(chain, change.view))
            told.append(f"{chain.inputs[change.view].title}: {change.words}: {text}")
        lines += _indented(told) or ["    nothing changes"]
    lines += _ending(chain, outcome, len(history.steps) + 1)
    return lines


def _ending(chain: Chain, outcome: Outcome, last: int) -> Iterator[str]:
    if outcome.fails:
        yield f"run {last} fails: {outcome.fails}"
        return
    yield f"after run {last}"
    changed = _changed_columns(chain, outcome)
    yield from _indented(f"only a full refresh has {shown(row, changed)}" for row in outcome.missing)
    yield from _indented(f"only the table has {shown(row, changed)}" for row in outcome.extra)


def _changed_columns(chain: Chain, outcome: Outcome) -> list[str]:
    """Return the key, and the columns in which rows of one key differ, first."""
    pairs = [
        (one, other)
        for one in outcome.missing
        for other in outcome.extra
        if chain.settings.key and all(one.get(name) == other.get(name) for name in chain.settings.key)
    ]
    differing = [name for name in chain.compared if any(one[name] != other[name] for one, other in pairs)]
    return [*chain.settings.key, *differing]


def shown(row: Row, first: Collection[str]) -> str:
    """Return a row; of many columns those that tell most, without NULLs.

    Args:
        row: the row.
        first: columns that come first.
    """
    if len(row) <= SHOWN:
        return flow(row)
    names = [name for name in row if name in first]
    names += [name for name in row if name not in first and row[name] is not None]
    rest = ", …}" if len(names) > SHOWN else "}"
    return flow({name: row[name] for name in names[:SHOWN]})[:-1] + rest


def _telling(chain: Chain, view: str) -> list[str]:
    table = with_roles(chain, chain.inputs[view].table)
    return [*table.key, *times_of(table), *sorted(table.meets)]


def _before(history: History, view: str, place: int) -> Row:
    rows = dict(history.before[view])
    for change in (one for changes in history.steps for one in changes):
        if change.view == view and change.place == place and change.row is not None:
            rows[place] = change.row
    return rows[place]


def unit_test(spark: SparkSession, chain: Chain, finding: Finding) -> str:
    """Return a unit test of dbt that fails as the run does; empty if dbt's unit tests cannot show it.

    dbt compares the rows of the query, not those of the table: so rows that ought to go cannot be shown.

    Args:
        spark: the session, in which the views have the rows of the last run.
        chain: the model.
        finding: what differs.
    """
    assert finding.smallest is not None  # noqa: S101
    outcome = finding.smallest[1]
    if effect_of(chain, outcome) in (FAILS, KEPT) or chain.settings.strategy == MICROBATCH:
        return ""
    expected, _ = difference(chain.compared, outcome.rebuilt, outcome.before)
    columns = chain.compared
    if difference(columns, expected, outcome.new) == ([], []):
        return ""
    given = {name: _rows_of(spark, view) for view, name in chain.given.items()} | {"this": outcome.before}
    lines = [
        f"  - name: {chain.name}_{finding.kind}_rows_of_{finding.view.rsplit('__', 1)[-1]}",
        f"    model: {chain.name}",
        "    overrides:",
        "      macros: {is_incremental: true}",
        "    given:",
    ]
    for name, rows in given.items():
        lines += [f"      - input: {name}", *_listed(rows, "        ")]
    lines += [
        "    expect:",
        *_listed([{name: row[name.lower()] for name in columns} for row in expected], "      "),
    ]
    return "\n".join(lines)


def _listed(rows: Sequence[Row], margin: str) -> list[str]:
    return [f"{margin}rows:" if rows else f"{margin}rows: []", *(f"{margin}  - {flow(row)}" for row in rows)]


def _rows_of(spark: SparkSession, view: str) -> list[Row]:
    return [row.asDict(recursive=True) for row in spark.table(view).collect()]


def _indented(lines: Iterator[str] | Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def titles(chain: Chain) -> str:
    """Return the tables that a model reads, in words."""
    return ", ".join(one.title for one in chain.inputs.values())


def guesses(chain: Chain) -> list[str]:
    """Return what was guessed of the tables that a model reads, a line for each."""
    lines = []
    for one in chain.inputs.values():
        told: Mapping[str, str] = {
            "columns": first_of([f"{name} {kind}" for name, kind in one.table.columns.items()], SHOWN),
            "key": ", ".join(one.table.key),
            "not null": ", ".join(sorted(one.table.never_null & set(chain.settings.key))),
        }
        lines += [f"{one.title}: {what} not declared; taken: {told[what]}" for what in sorted(one.guessed)]
        if not one.table.key:
            lines.append(f"{one.title}: no key is known; its rows may repeat by chance")
    return lines
