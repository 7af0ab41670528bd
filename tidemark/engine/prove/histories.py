"""Draw the histories of a model's sources, for each combination of sources that change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from random import Random

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.tree import leaves
from tidemark.engine.prove.drawing import Chance, Drawn, draw_history
from tidemark.engine.prove.proof import Model
from tidemark.engine.prove.roles import meeting, ordering
from tidemark.engine.prove.tables import literals_of

# how often a column that meets others takes one of the two common values of a history
SHARES = (0.0, 0.5, 0.8)


def draw(model: Model, changed: Iterable[str], rng: Random, number: int) -> Drawn:
    """Draw histories of a model's sources, most of which touch the same keys in several sources.

    Args:
        model: the model.
        changed: the sources that have changes; the others have rows alone.
        rng: the source of chance.
        number: how many histories.
    """
    named = literals_of(model.tree)
    names = frozenset(changed)
    meets, tied = meeting(model.tree), ordering(model.tree)
    tables = {
        name: replace(table, meets=meets & table.columns.keys(), tied=tied & table.columns.keys())
        for name, table in model.tables.items()
    }
    drawn: Drawn = {name: [] for name in tables}
    for _ in range(number):
        chance = Chance(rng, named, rng.choice(SHARES))
        for name, table in tables.items():
            drawn[name].append(draw_history(table, chance, changes=name in names))
    return drawn


def subsets(model: Model) -> list[tuple[str, ...]]:
    """Return the combinations of changed sources to try.

    Each source alone, and all together; of pairs, those whose changes are applied in another way.
    """
    names = sorted({leaf.table for leaf in leaves(model.tree)})
    found: list[tuple[str, ...]] = [(name,) for name in names]
    if len(names) == 1:
        return found
    ways = {choose_plan(model.tree, model.request(one)).how for one in (*found, tuple(names))}
    for pair in combinations(names, 2) if len(names) > 2 else ():
        how = choose_plan(model.tree, model.request(pair)).how
        if how not in ways:
            ways.add(how)
            found.append(pair)
    return [*found, tuple(names)]


def trials(model: Model) -> list[tuple[Model, tuple[str, ...]]]:
    """Return a model with each combination of changed sources to try.

    A model of which large lakes count the groups in a stage is tried once more, with that stage.
    """
    found = [(replace(model, prefers_stages=False), changed) for changed in subsets(model)]
    return [*found, (model, found[-1][1])] if model.prefers_stages else found
