"""What a change of the project would do, in words and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.base.output import count_of
from tidemark.engine.preview.changed import NEW, READER, Changed
from tidemark.engine.runs.differences import ADDED, CHANGED, REMOVED, SIGNS, Difference

WORDS = ((CHANGED, "changes", "change"), (ADDED, "is new", "are new"), (REMOVED, "is gone", "are gone"))


def rows_of(one: Changed) -> str:
    """Return how many rows of a table would differ, in words."""
    if one.rows is None:
        return "a new table" if one.number is None else f"a new table of {count_of(one.number, 'row')}"
    found = []
    for kind, of_one, of_many in WORDS:
        if number := one.rows.counts[kind]:
            columns = ", ".join(f"{name} {count:,}" for name, count in one.rows.columns_changed.items())
            of = f" ({columns})" if kind == CHANGED and columns else ""
            found.append(f"{count_of(number, 'row')} {of_one if number == 1 else of_many}{of}")
    for names, word in ((one.rows.columns_added, "new"), (one.rows.columns_removed, "gone")):
        found += [f"{count_of(len(names), 'column')} {word}: {', '.join(names)}"] * bool(names)
    return ", ".join(found) or "no row changes"


def summary(changes: Sequence[Changed], *, with_rows: bool) -> str:
    """Return the result in a sentence."""
    if not changes:
        return "Nothing has changed: the next run reads what is new, with the code that built the tables."
    changed = [one for one in changes if one.kind != READER]
    readers = len(changes) - len(changed)
    tables = f"{count_of(len(changed), 'table')} changed, {count_of(readers, 'other')} read them"
    if not with_rows:
        return f"{tables}. --rows computes which rows would differ."
    unknown = [one for one in changes if one.unknown]
    rows = sum(one.differing or 0 for one in changes)
    if not unknown and all(one.is_same for one in changes):
        return f"{tables}. 0 rows change: the next run takes the new code and writes nothing."
    not_known = f"; of {count_of(len(unknown), 'table')} the rows are not known" if unknown else ""
    return f"{tables}. {count_of(rows, 'row')} would differ{not_known}."


def page(changes: Sequence[Changed], *, with_rows: bool) -> str:
    """Return a text for a pull request: a table of the changes, and the first rows that differ."""
    lines = ["## tidemark plan", "", summary(changes, with_rows=with_rows)]
    if changes:
        lines += ["", "| table | why | rows |", "| --- | --- | --- |"]
        lines += [f"| `{one.table}` | {_cell(one.why)} | {_cell(_rows(one, with_rows))} |" for one in changes]
    for one in changes:
        if one.rows is not None and one.rows.shown:
            lines += ["", f"<details><summary>{one.table}: the first rows</summary>", "", "```diff"]
            lines += [line for shown in one.rows.shown for line in _diff(shown)]
            lines += ["```", "", "</details>"]
    return "\n".join(lines)


def _rows(one: Changed, with_rows: bool) -> str:
    stops = "**the run stops here** " if one.stops else ""
    if one.unknown:
        return f"{stops}not known: {one.unknown}"
    known = with_rows or one.differing is not None
    return stops + (rows_of(one) if known else "a new table" if one.kind == NEW else "")


def _diff(one: Difference) -> Iterator[str]:
    """Yield a difference as lines of a diff, which GitHub colours by their first sign."""
    key = ", ".join(f"{name}={value}" for name, value in one.key.items())
    times = f" ({one.number} times)" if one.number > 1 else ""
    for sign, side in (("-", 0), ("+", 1)):
        if one.kind == CHANGED or SIGNS[one.kind] == sign:
            values = [f"{name}={pair[side]}" for name, pair in one.values.items()]
            text = f"{sign} {key}{times}{': ' * bool(values)}{', '.join(values)}"
            yield " ".join(text.split()).replace("```", "'''")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
