"""Write a proposed feed into the project, from templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from python_ingest.errors import TidemarkError
from python_ingest.feeds.declarations import Feed
from python_ingest.scaffold.feed import Proposal, proposed
from python_ingest.scaffold.rendering import write_templates
from python_ingest.scaffold.sampling import sample_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    spark: Callable[[], SparkSession],
) -> tuple[Proposal, list[Path]]:
    """Write the declaration of a feed, its silver models and their tests.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        key: the columns that identify a record; if empty, they are found in the files.
        feeds: the declared feeds.
        spark: returns the session; called only if it is needed.

    Returns:
        The proposal, and the written files.

    Raises:
        TidemarkError: when there are no readable files, the proposal fails, or the feed already exists.
    """
    files = _files(path)
    feed = proposed(sample_of(spark, files), files, path, name, key)
    targets = {template: Path(target.format(name=feed.name)) for template, target in FILES.items()}
    there = next((target for target in targets.values() if target.exists()), None)
    if feed.name in feeds or there:
        raise TidemarkError(
            f"The feed '{feed.name}' already exists: {there or feeds[feed.name].declared_in}.",
            "Choose another `--name`, or remove that feed first.",
        )
    written = write_templates(targets, feed=feed)
    return feed, written


def _files(path: Path) -> Sequence[Path]:
    found = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    files = [file for file in found if not file.name.startswith((".", "_"))]
    if not files:
        raise TidemarkError(
            f"There are no files at {path}.", "Give a file of the feed, or the folder of its files."
        )
    return files
