"""A model's query with the versions of the tables that it has read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.engine.incremental.readings import filled
from tidemark.engine.incremental.tree import Leaf, Node, leaves
from tidemark.engine.why.carried import Carried


@dataclass
class Query:
    """A model's query.

    Attributes:
        root: its tree.
        readings: by `schema.table`, what reads the version of a table that the model's table was made from.
    """

    root: Node
    readings: Mapping[str, str]

    @property
    def places(self) -> dict[str, list[Leaf]]:
        """Where it reads each table."""
        found: dict[str, list[Leaf]] = {}
        for leaf in leaves(self.root):
            found.setdefault(leaf.table, []).append(leaf)
        return found

    def reading(self, table: str) -> str:
        """Return what reads the version of a table."""
        return self.readings.get(table, table)

    def text(self, one: Carried) -> str:
        """Return SQL for the rows of a table that are carried through the query."""
        versions = {name: {"present": self.reading(name)} for name in self.places}
        return filled(one.query, versions)
