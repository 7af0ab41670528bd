"""What `tidemark add` tells its user: what it assumed, what it is not sure of, and how to say otherwise."""

from __future__ import annotations

from tidemark.base.output import count_of
from tidemark.scaffold.column import Proposed, in_jinja
from tidemark.scaffold.feed import Proposal
from tidemark.scaffold.gold import Gold
from tidemark.scaffold.keys import is_id
from tidemark.scaffold.value_types import NULLS

FEW_RECORDS = 100  # in which values of any column may differ by chance


def notes_of(feed: Proposal, gold: Gold | None) -> list[tuple[str, str]]:
    """Return what was assumed: pairs of an event and a sentence.

    Args:
        feed: the proposal.
        gold: its gold model, if it has one.
    """
    options = ", ".join(f"{name} {value!r}" for name, value in feed.sample.options.items())
    found = [
        ("format", f"{feed.sample.file_format}{f', {options}' if options else ''}; pattern {feed.pattern}")
    ]
    found += feed.sample.notes
    if renamed := [column.renamed for column in feed.columns if column.name != column.field]:
        found.append(("renamed", ", ".join(renamed)))
    found += _nulls(feed)
    found += _key(feed)
    for name in feed.unordered:
        found.append(("newest", f"{name} is text: it does not order versions; see its line above"))
    if gold:
        found.append(("gold", f"{gold.name}: {gold.description[0].lower()}{gold.description[1:]}"))
    else:
        found.append(("gold", "no model: no date, and no column with few values"))
    return found


def column_line(column: Proposed) -> str:
    """Return the type of a column and what decided it."""
    of = column.type if len(column.type) < 40 else f"{column.type[:37]}..."
    given = dict(column.value.arguments) if column.is_cast else {}
    words = [str(given["format"])] if "format" in given else []
    words += [
        f"{name.replace('_', ' ')} {given[name]!r}"
        for name in ("decimal_mark", "grouping", "strip")
        if name in given
    ]
    words += ["/".join([*given["true_words"], *given["false_words"]])] if "true_words" in given else []
    words += ["" if column.is_required else "may be missing", column.value.note]
    return f"{of:<16} {'; '.join(word for word in words if word)}".rstrip()


def _key(feed: Proposal) -> list[tuple[str, str]]:
    if feed.check is None:
        each = "none: silver keeps each record as it landed, copies too"
        return [("key", f"{each}; a landing stops at a file that has changed (`on_change: error`)")]
    chosen = f"{', '.join(feed.key_names)}: {_why(feed)}; use `--key` for other columns"
    found = [("key", chosen), *feed.check.notes()]
    of_few = feed.check.records < FEW_RECORDS and not any(is_id(column.name) for column in feed.key)
    if feed.is_guess and of_few:
        guess = f"a guess from {count_of(feed.check.records, 'record')}"
        message = (
            f"{guess}: later ones with the same values would replace these; use `--no-key` if they differ"
        )
        found.append(("key", message))
    return found


def _why(feed: Proposal) -> str:
    newest = f"the newest row (by {feed.newest_by.name})" if feed.newest_by else "the last landed row"
    return f"silver keeps {newest} of each"


def _nulls(feed: Proposal) -> list[tuple[str, str]]:
    found = []
    if any(column.is_cast for column in feed.columns):
        others = f"and {len(NULLS) - 4} other words (in stg_{feed.name}.sql)"
        found.append(("null", f"empty, NA, NULL, - {others} are NULL in columns that are not text"))
    kept = feed.sample.kept_nulls
    for some in dict.fromkeys(kept.values()):
        fields = [column.name for column in feed.columns if kept.get(column.field) == some]
        if fields and any(some):
            shown = ", ".join(word for word in some if word)
            nulls = in_jinja(["", *(word for word in some if word)])
            remedy = f"`as_text('{fields[0]}', nulls={nulls})` makes it NULL"
            found.append(("text", f"{shown} stays text in {', '.join(fields)}; {remedy}"))
    return found
