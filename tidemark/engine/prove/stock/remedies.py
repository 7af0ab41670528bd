"""What to do about an incremental model that is not equal to its full refresh."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.engine.prove.stock.changes import DELETED, EDITED, EMPTY, LATE, REPEATED, TIED
from tidemark.engine.prove.stock.history import NEW
from tidemark.engine.prove.stock.settings import APPEND, OVERWRITE, Settings
from tidemark.engine.prove.stock.trying import FAILS, KEPT, LOST, OLD, TWICE

ONE_ROW = "remove repeated rows in the query, by row_number() with a total order"
OF_KIND = {
    EMPTY: "expect a table without rows: coalesce the maximum in the filter to an early date",
    TIED: "compare by >= instead of >, with a unique_key",
    LATE: "read by the time at which rows arrived, or look back further than rows come late",
    EDITED: "filter by a time that each update sets, or look back further",
}
WHOLE_GROUPS = "compute each touched group from all of its rows, not from the new ones alone"
MARKED = "keep deleted rows with a flag in the source, or refresh in full now and then"


def remedy(settings: Settings, kind: str, effect: str, *, is_filtered: bool, groups: bool) -> str:
    """Return what to do, as the end of a sentence.

    Args:
        settings: how the model is written.
        kind: the kind of changes after which the table differs.
        effect: how it differs: a key of `EFFECTS`.
        is_filtered: whether the model's filter of new rows looks at the input that changes.
        groups: whether the model groups rows.
    """
    return next(_advice(settings, kind, effect, is_filtered=is_filtered, groups=groups))


def _advice(settings: Settings, kind: str, effect: str, *, is_filtered: bool, groups: bool) -> Iterator[str]:
    """Yield what may be done, the best first."""
    overwrites = settings.strategy == OVERWRITE
    if effect == FAILS or (kind == REPEATED and settings.key):
        yield f"{ONE_ROW}: one row of each unique_key"
    if settings.strategy == APPEND and settings.key and effect not in (LOST, KEPT):
        yield "take a strategy that uses unique_key, such as incremental_strategy='merge': append ignores it"
    if not is_filtered:
        yield (
            "the filter of new rows looks at another table: "
            "let it also take the rows that changes of this one touch"
        )
    if kind == DELETED:
        yield (
            f"replace each group that a row has left, or {MARKED}"
            if overwrites
            else f"dbt deletes nothing: {MARKED}"
        )
    if effect == TWICE or (kind == REPEATED and effect != LOST):
        yield "give the model a unique_key with merge" if settings.strategy == APPEND else ONE_ROW
    if kind == NEW and effect == LOST:
        yield "the filter of new rows does not take this one: look at NULLs in what it compares"
    if groups and effect == OLD:
        yield WHOLE_GROUPS
    if kind in OF_KIND:
        yield OF_KIND[kind]
    if overwrites or effect == KEPT:
        yield "replace also the partition or the group that a row has left"
    if settings.strategy == APPEND:
        yield "give the model a unique_key, with incremental_strategy='merge'"
    yield WHOLE_GROUPS
