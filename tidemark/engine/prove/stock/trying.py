"""Try a model on random histories, a kind of changes at a time, and find the smallest that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sqlglot import exp

from tidemark.engine.prove.drawing import Chance, Row, Table
from tidemark.engine.prove.stock.chains import Chain
from tidemark.engine.prove.stock.changes import KINDS, REPEATED, Drawer, kinds_for
from tidemark.engine.prove.stock.dialect import NOW
from tidemark.engine.prove.stock.history import NEW, History
from tidemark.engine.prove.stock.running import Outcome, Runner

SHARES = (0.3, 0.6, 0.9)  # how often a column that others are compared with has a common value
SHRUNK = 60  # histories tried to find a smaller one
LONGEST_LITERAL = 40
OF_MACROS = "_dbt_utils"  # how values begin that a macro compares with, and no source has

FAILS, LOST, TWICE, KEPT, OLD, OTHER = "fails", "lost", "twice", "kept", "old", "other"
EFFECTS = {
    FAILS: "a run fails",
    LOST: "rows are lost",
    TWICE: "rows are there twice",
    KEPT: "rows stay that a full refresh does not have",
    OLD: "rows have old values",
    OTHER: "other rows",
}


@dataclass(frozen=True)
class Finding:
    """What histories with one kind of changes of one input showed.

    Attributes:
        view: the input.
        kind: the kind of changes.
        histories: how many were compared.
        differing: after how many the table was not what a full refresh gives.
        ambiguous: how many were not compared: a full refresh depends on the order of rows.
        filled: in how many a full refresh has rows.
        effects: what differed, the most frequent first.
        smallest: the smallest history that differs, and what it showed.
    """

    view: str
    kind: str
    histories: int = 0
    differing: int = 0
    ambiguous: int = 0
    filled: int = 0
    effects: tuple[str, ...] = ()
    smallest: tuple[History, Outcome] | None = None


@dataclass(frozen=True)
class Asked:
    """What to try.

    Attributes:
        histories: how many histories of each kind of changes.
        seed: the same seed draws the same histories.
        kinds: the kinds of changes.
    """

    histories: int = 20
    seed: int = 1
    kinds: frozenset[str] = frozenset(KINDS)


def findings(runner: Runner, asked: Asked) -> Iterator[Finding]:
    """Try a model, and yield what each kind of changes of each input showed.

    Args:
        runner: the model.
        asked: what to try.
    """
    chain = runner.chain
    tables = {view: with_roles(chain, one.table) for view, one in chain.inputs.items()}
    for view, table in tables.items():
        mixed = False  # new rows besides show nothing more, once they alone make a difference
        for kind in kinds_for(table):
            one = chain.inputs[view]
            repeats = kind != REPEATED or not table.key or "key" in one.guessed  # a declared key forbids them
            if kind in asked.kinds and repeats:
                found = _tried(runner, tables, Finding(view, kind), asked, mixed=mixed)
                mixed = found.smallest is None if kind == NEW else mixed
                yield found


def effect_of(chain: Chain, outcome: Outcome) -> str:
    """Return how a table differs from a full refresh: a key of `EFFECTS`."""
    if outcome.fails:
        return FAILS
    key = chain.settings.key

    def keys(rows: list[Row]) -> set[Any]:
        return {tuple(str(row.get(name)) for name in key or chain.compared) for row in rows}

    if outcome.missing and outcome.extra:
        return OLD if key and keys(outcome.missing) & keys(outcome.extra) else OTHER
    if outcome.missing:
        return LOST
    return TWICE if keys(outcome.extra) & keys(outcome.rebuilt) else KEPT


def _tried(
    runner: Runner, tables: Mapping[str, Table], found: Finding, asked: Asked, *, mixed: bool
) -> Finding:
    literals = _literals(runner.chain)
    joined = _joined(runner.chain)
    effects: list[str] = []
    first: tuple[History, Outcome] | None = None
    for number in range(asked.histories):
        rng = Random(f"{asked.seed} {runner.chain.name} {found.view} {found.kind} {number}")
        drawer = Drawer(tables, Chance(rng, literals, rng.choice(SHARES)), joined)
        history = drawer.history(found.view, found.kind, mixed=mixed)
        outcome = runner.outcome(history)
        found = replace(found, filled=found.filled + bool(outcome.rebuilt))
        if outcome.differs and runner.is_ambiguous(history, outcome.rebuilt):
            found = replace(found, ambiguous=found.ambiguous + 1)
            continue
        found = replace(found, histories=found.histories + 1)
        if outcome.differs:
            effects.append(effect_of(runner.chain, outcome))
            first = first or (history, outcome)
    if first is None:
        return found
    often = sorted(set(effects), key=lambda one: (-effects.count(one), one))
    return replace(found, differing=len(effects), effects=tuple(often), smallest=_smallest(runner, *first))


def _smallest(runner: Runner, history: History, outcome: Outcome) -> tuple[History, Outcome]:
    """Leave out runs, changes and rows as long as the table differs in the same manner."""
    effect = effect_of(runner.chain, outcome)
    left = SHRUNK
    while True:
        for smaller in history.smaller():
            left -= 1
            found = runner.outcome(smaller)
            same = found.differs and effect_of(runner.chain, found) == effect
            # a first run without rows is a fault of its own
            same = same and bool(found.first) == bool(outcome.first)
            if same and not runner.is_ambiguous(smaller, found.rebuilt):
                history, outcome = smaller, found
                break
            if left <= 0:
                return history, outcome
        else:
            return history, outcome


def with_roles(chain: Chain, table: Table) -> Table:
    """Return a table that knows which of its columns the model groups by, and what it compares them with."""
    names: set[str] = set()
    values = {name: list(found) for name, found in table.values.items()}
    for node in _nodes(chain, exp.EQ, exp.In, exp.Group, exp.Window):
        parts = node.args.get("partition_by") or () if isinstance(node, exp.Window) else (node,)
        columns = [one.name.lower() for part in parts for one in part.find_all(exp.Column)]
        literals = [
            one.this for one in node.iter_expressions() if isinstance(one, exp.Literal) and one.is_string
        ]
        if (
            isinstance(node, (exp.EQ, exp.In))
            and len(columns) == 1
            and table.columns.get(columns[0]) == "string"
        ):
            values.setdefault(columns[0], []).extend(literals)
        if len(columns) > 1 or not isinstance(node, exp.EQ):
            names.update(columns)
    return replace(table, meets=frozenset(names) & table.columns.keys(), values=values)


def _nodes(chain: Chain, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield the parts of the queries of a model, and of those below it."""
    for query in (chain.full, chain.incremental, *(one for _, one, _ in chain.below)):
        yield from query.tree.find_all(*kinds) if query.tree is not None else ()


def _joined(chain: Chain) -> frozenset[str]:
    """Return the columns that a model, or one below it, compares with other columns."""
    names = {one.name.lower() for join in _nodes(chain, exp.Join) for one in join.args.get("using") or ()}
    for one in _nodes(chain, exp.EQ):
        columns = [column.name.lower() for column in one.find_all(exp.Column)]
        names.update(columns if len(columns) > 1 else ())
    return frozenset(names)


def _literals(chain: Chain) -> dict[str, list[Any]]:
    """Return the values that a model's queries name, by family of type."""
    found: dict[str, set[Any]] = {"text": set(), "number": set(), "date": set()}
    for literal in _nodes(chain, exp.Literal):
        text = str(literal.this)
        if not literal.args.get("is_string"):
            found["number"].add(float(text))
        elif text != NOW and len(text) <= LONGEST_LITERAL and not text.startswith(OF_MACROS):
            found["text"].add(text)
    return {family: sorted(values) for family, values in found.items()}
