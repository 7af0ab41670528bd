"""Write a proposed feed into the project, from templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from python_ingest.errors import TidemarkError
from python_ingest.feeds.declarations import Feed
from python_ingest.scaffold.feed import Proposal, proposed
from python_ingest.scaffold.reading.folder import folder_of
from python_ingest.scaffold.rendering import write_templates
from python_ingest.scaffold.sampling import Sample

FILES = {
    "feed/sources.yml": "models/bronze/_bronze_{name}__sources.yml",
    "feed/staged.sql": "macros/staging/staged_{name}.sql",
    "feed/silver.sql": "models/silver/{name}/{name}.sql",
    "feed/rejected.sql": "models/silver/{name}/rejected_{name}.sql",
    "feed/models.yml": "models/silver/{name}/_silver_{name}__models.yml",
    "feed/row_balance.sql": "tests/dbt/silver/{name}_row_balance.sql",
}


def add(
    path: Path,
    name: str | None,
    key: Sequence[str],
    feeds: dict[str, Feed],
    read: Callable[[Sequence[Path]], Sample],
) -> tuple[Proposal, list[Path]]:
    """Write the declaration of a feed, its silver models and their tests.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        key: the columns that identify a record; if empty, they are found in the files.
        feeds: the declared feeds.
        read: returns the sample of files, such as `sample_of` does.

    Returns:
        The proposal, and the written files.

    Raises:
        TidemarkError: when there are no readable files, the proposal fails, or the feed already exists.
    """
    folder = folder_of(path)
    sample = read(folder.files)
    sample = replace(sample, notes=[*folder.notes, *sample.notes], partitions=list(folder.partitions))
    feed = proposed(sample, folder.files, path, name, key)
    targets = {template: Path(target.format(name=feed.name)) for template, target in FILES.items()}
    there = next((target for target in targets.values() if target.exists()), None)
    if feed.name in feeds or there:
        raise TidemarkError(
            f"The feed '{feed.name}' already exists: {there or feeds[feed.name].declared_in}.",
            "Choose another `--name`, or remove that feed first.",
        )
    written = write_templates(targets, feed=feed)
    return feed, written
