"""The dbt project with its feeds: where the engine and landing meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from python_ingest.feeds.declarations import Feed, declared_feeds
from tidemark.base.errors import DeclarationError
from tidemark.engine.project import Project
from tidemark.engine.project.selection import selected_sources


@dataclass(frozen=True)
class ProjectWithFeeds(Project):
    """A parsed project with the feeds that it declares; an invalid declaration affects no other feed.

    Attributes:
        feeds: the feeds with a valid declaration by name.
        invalid: the errors of the feeds whose declaration is invalid, by name.
    """

    feeds: Mapping[str, Feed] = field(default_factory=dict)
    invalid: Mapping[str, DeclarationError] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, manifest: Any) -> Self:
        """Return the project of a parsed manifest, and validate its feeds.

        Raises:
            TidemarkError: if the profile's target does not use the adapter `tidemark`.
        """
        feeds, invalid = declared_feeds(source.to_dict() for source in manifest.sources.values())
        return replace(super().of(root, manifest), feeds=feeds, invalid=invalid)

    def invalid_among(self, names: Sequence[str]) -> list[DeclarationError]:
        """Return the errors of the named feeds with an invalid declaration; of all, if no name is given."""
        return [error for name, error in self.invalid.items() if not names or name in names]

    def selected_names(self, selection: Sequence[str]) -> list[str]:
        """Return the names of the selected feeds, also of invalid declarations.

        If no feed is selected, these are the feeds that the selected models read.

        Args:
            selection: dbt selectors, such as `source:bronze.orders+`.

        Raises:
            DbtError: if dbt does not understand the selectors, or they match nothing.
        """
        return selected_sources(self.manifest, selection, {*self.feeds, *self.invalid})
