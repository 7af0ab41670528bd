"""What runs the queries by which a change is prepared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Executor(Protocol):
    """Runs queries in the connection of a run, or in the session of a proof."""

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a query by column."""
        ...

    def cached_view(self, name: str, sql: str) -> str:
        """Create a view whose rows are computed once, and return its full name.

        Args:
            name: its name within the model.
            sql: its query.
        """
        ...

    def drop_view(self, name: str) -> None:
        """Drop a view of `cached_view`.

        Args:
            name: its name within the model.
        """
        ...

    def columns(self) -> Sequence[str]:
        """Return the columns of the table to be written, in its order."""
        ...
