"""Write a proposed feed into the project: all of its files, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.texts import yaml_in
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.scaffold.column import in_jinja
from tidemark.scaffold.declaring import gold_yml, models_yml, sources_yml, staging_yml
from tidemark.scaffold.feed import Proposal, proposed
from tidemark.scaffold.free_names import check_names
from tidemark.scaffold.gold import Gold, gold_of
from tidemark.scaffold.reading.folder import folder_of
from tidemark.scaffold.rendering import rendered, write_files
from tidemark.scaffold.sampling import Sample
from tidemark.scaffold.typed_sample import Dates
from tidemark.scaffold.value_types import NULLS

FILES = {
    "sources.yml": "models/bronze/_bronze_{name}__sources.yml",
    "staging.sql": "models/staging/{name}/stg_{name}.sql",
    "staging.yml": "models/staging/{name}/_stg_{name}__models.yml",
    "silver.sql": "models/silver/{name}/{name}.sql",
    "rejected.sql": "models/silver/{name}/rejected_{name}.sql",
    "models.yml": "models/silver/{name}/_silver_{name}__models.yml",
    "row_balance.sql": "tests/dbt/silver/{name}_row_balance.sql",
}
GOLD_FILES = {
    "gold.sql": "models/gold/{name}/{gold}.sql",
    "gold.yml": "models/gold/{name}/_gold_{name}__models.yml",
}


def add(  # noqa: PLR0913
    path: Path,
    name: str | None,
    key: Sequence[str] | None,
    lakehouse: ProjectWithFeeds | None,
    read: Callable[[Sequence[Path]], Sample],
    *,
    dates: Dates | None = None,
) -> tuple[Proposal, Gold | None, list[Path]]:
    """Write the declaration of a feed, its staging, silver and gold models and their tests.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        key: the columns that identify a record; if empty, they are found in the files; None if none do.
        lakehouse: the project; None for a new one, which has models of its own in gold and is not checked.
        read: returns the sample of files, such as `sample_of` does.
        dates: what the user says about dates.

    Returns:
        The proposal, its gold model if there is one, and the written files.

    Raises:
        TidemarkError: when there are no readable files, the proposal fails, names are taken, or dbt cannot
            read the files; then nothing is written.
    """
    folder = folder_of(path)
    sample = read(folder.files)
    sample = replace(sample, notes=[*folder.notes, *sample.notes], partitions=list(folder.partitions))
    feed = proposed(sample, folder.files, path, name, key, dates=dates)
    gold = gold_of(feed) if lakehouse else None
    texts = _texts(feed, gold)
    there = next((target for target in texts if target.exists()), None)
    taken = lakehouse and lakehouse.feeds.get(feed.name)
    if there or taken:
        raise TidemarkError(
            f"The feed '{feed.name}' already exists: {there or (taken and taken.declared_in)}.",
            "Choose another `--name`, or remove that feed first.",
        )
    if lakehouse:
        check_names(lakehouse.manifest, feed.name, gold.name if gold else None)
    return feed, gold, write_files(texts, _check if lakehouse else None)


def _texts(feed: Proposal, gold: Gold | None) -> dict[Path, str]:
    """Return the text of each file.

    Raises:
        TidemarkError: when a file would not be YAML.
    """
    own = {
        "sources.yml": sources_yml(feed),
        "staging.yml": staging_yml(feed),
        "models.yml": models_yml(feed),
    }
    named = FILES | (GOLD_FILES if gold else {})
    if gold:
        own["gold.yml"] = gold_yml(gold)
    texts = {}
    for template, target in named.items():
        text = own.get(template) or rendered(
            f"feed/{template}", feed=feed, gold=gold, nulls=in_jinja(list(NULLS))
        )
        texts[Path(target.format(name=feed.name, gold=gold.name if gold else ""))] = text
    for text in own.values():
        try:
            yaml_in(text)
            text.encode()
        except ValueError as error:
            raise TidemarkError(
                f"A name or a value of the files cannot be written as YAML: {error}.",
                "Declare the feed by hand: docs/landing.md.",
            ) from error
    return texts


def _check() -> None:
    try:
        ProjectWithFeeds.load(silent=True)
    except TidemarkError as error:
        raise TidemarkError(
            f"dbt cannot read the project with the files of this feed: {error.what}",
            "Nothing was written. Declare the feed by hand, and report the file's names: docs/landing.md.",
        ) from error
