"""The schema contract of a feed: how to treat a file whose columns differ from its bronze table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql.types import NullType, StructType

from python_ingest.bronze.columns import Target, case_twins, fields_of, has_text_keys, named
from python_ingest.bronze.widening import is_storable, widened
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed
from python_ingest.ops.schema_changes import Change
from tidemark.base.errors import LandingError

AGAINST = "the contract does not allow "  # begins the reason of a message that its columns were judged by
WORDS = {
    "missing_column": "lacks",
    "new_column": "has columns that are not declared:",
    "type_change": "has columns of another type:",
}


@dataclass(frozen=True)
class Rejection:
    """Why a complete file is rejected."""

    reason: str


def check_types(feed: Feed, targets: Sequence[Target]) -> None:
    """Check that a table can have the declared types, and that the feed's format can fill them.

    Raises:
        LandingError: if it cannot.
    """
    is_json = isinstance(feed, FileFeed) and feed.external.file_format == "json"
    for target in targets:
        where = f"Feed '{feed.name}': column {target.name}"
        if twins := case_twins(target.type):
            raise LandingError(
                f"{where}: {' and '.join(twins)} differ in letter case only, and a table cannot have both.",
                f"Declare one of them in {feed.declared_in}: the other one is kept in `_rescued_data`. Or "
                "declare the column as string.",
            )
        if is_json and not has_text_keys(target.type):
            raise LandingError(
                f"{where} is a map whose keys are not text, as they are in JSON.",
                f"Declare it as map<string, …> in {feed.declared_in}, and cast the keys in silver.",
            )


def changes(targets: Sequence[Target], fields: StructType, *, ignores_case: bool) -> list[Change]:
    """Compare a file's columns with those of the bronze table.

    Args:
        targets: the bronze table's columns.
        fields: the file's columns.
        ignores_case: whether the letter case of fields may differ from the declaration.
    """
    filled = fields_of(targets, fields.names, ignores_case=ignores_case)
    found = []
    for target in targets:
        if target.name in filled:
            given = fields[filled[target.name]].dataType
            to = target.type if isinstance(given, NullType) else widened(target.type, given)
            if to is None or to.simpleString() != target.type.simpleString():
                to = to if to and is_storable(to) else None
                found.append(Change("type_change", target.name, filled[target.name], target.type, given, to))
        elif target.field:
            found.append(Change("missing_column", target.name, target.field, target.type, None, target.type))
    new = set(fields.names) - set(filled.values())
    taken = {target.name for target in targets}
    names = {field: name for name, field in named(new).items() if name not in taken}
    for field in fields.fields:
        if field.name in new and not isinstance(field.dataType, NullType):
            of = field.dataType
            column = names.get(field.name, "") if is_storable(of) else ""
            found.append(Change("new_column", column, field.name, None, of, of if column else None))
    return found


def apply_contract(
    feed: FileFeed | TableFeed, path: str, found: Sequence[Change], has: str, *, is_whole: bool = True
) -> list[Change] | Rejection:
    """Apply the feed's contract to a file.

    Args:
        feed: the feed.
        path: the file.
        found: how its columns differ.
        has: the start of a sentence about the file's columns, such as `its header`.
        is_whole: whether `found` is about all columns: then a file with none of them belongs elsewhere.

    Returns:
        The changes that bronze must make, or why the file is rejected.

    Raises:
        LandingError: if the contract says `fail`.
    """
    if is_whole and (refused := _is_foreign_file(feed, found, has)):
        return refused
    evolved = []
    for kind in ("missing_column", "type_change", "new_column"):
        some = [change for change in found if change.kind == kind]
        policy = getattr(feed.external.contract, kind)
        message = f"{has} {WORDS[kind]} {', '.join(change.message for change in some)}"
        if some and policy == "fail":
            raise LandingError(
                f"Feed '{feed.name}': {path}: {message}; its contract sets {kind}: fail.",
                f"Fix the file, declare the column, or change `contract` in {feed.declared_in}.",
            )
        if some and policy == "reject":
            return Rejection(message)
        if some and policy == "evolve":
            if kind == "type_change" and not all(change.becomes for change in some):
                return Rejection(f"{message}; bronze cannot be widened to it")
            evolved += [change for change in some if change.becomes]
    return evolved


def evolved_targets(targets: Sequence[Target], evolved: Sequence[Change]) -> list[Target]:
    """Return the bronze table's columns after the changes, applied one after the other."""
    columns = {target.name: target for target in targets}
    for change in evolved:
        if change.kind == "missing_column" or change.becomes is None:
            continue
        held = columns.get(change.column, Target(change.column, change.becomes))
        columns[change.column] = replace(held, type=widened(held.type, change.becomes) or held.type)
    return list(columns.values())


def _is_foreign_file(feed: FileFeed | TableFeed, found: Sequence[Change], has: str) -> Rejection | None:
    missing = [change for change in found if change.kind == "missing_column"]
    if len(missing) == len(feed.columns):
        return Rejection(f"not a file of this feed: {has} has none of the declared columns")
    return None
