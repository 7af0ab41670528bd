"""The columns of tables that nobody declared, from the queries that read them and how these are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from tidemark.engine.prove.stock.settings import Settings, columns_of
from tidemark.engine.prove.stock.usage import guessed_type, usage_of

Trees = Mapping[str, exp.Expr | None]


def guessed_columns(
    described: Mapping[str, Mapping[str, str]],
    trees: Trees,
    known: Mapping[str, Mapping[str, str]],
    written: Iterable[tuple[str, Settings]],
) -> dict[str, dict[str, str]]:
    """Return the Spark types of the columns of tables, by view.

    Args:
        described: the columns that the project describes of each table, with a type or an empty text.
        trees: the queries of models, by view.
        known: the columns of the other tables.
        written: models, by view, and how they are written.
    """
    found = usage_of(trees, known).columns
    for view, name in _written_by(written, trees, described):
        found.setdefault(view, {}).setdefault(name, [])
    columns = {}
    for view, types in described.items():
        used = found.get(view, {})
        names = dict.fromkeys([*types, *used])
        columns[view] = {name: types.get(name) or guessed_type(name, used.get(name, ())) for name in names}
    return columns


def _written_by(
    written: Iterable[tuple[str, Settings]], trees: Trees, unknown: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """Yield the columns by which models are written that read all columns of one unknown table."""
    for view, settings in written:
        stars = sorted(usage_of({"": trees.get(view)}, {}).stars & unknown.keys())
        if len(stars) == 1:
            yield from ((stars[0], name) for name in columns_of(settings))
