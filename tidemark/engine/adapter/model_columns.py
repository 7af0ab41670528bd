"""The columns of a model's query: which ones its table can hold, and which ones say what to do with a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.engine.adapter.model_settings import columns_named
from tidemark.engine.incremental.canonical import scalar_types
from tidemark.engine.incremental.readings import OF_CHANGES, OWN
from tidemark.engine.project.model_code import macros_below
from tidemark.engine.project.model_way import ENGINE_READS
from tidemark.lake.delta_log import LIMITED

# names that a format's own columns have, where it reads the changes of a table or the places of its rows
RESERVED = {
    "delta": OF_CHANGES,
    "iceberg": (
        *OF_CHANGES,
        *("_change_ordinal", "_commit_snapshot_id", "_file", "_pos", "_spec_id", "_partition", "_deleted"),
        *("_row_id", "_last_updated_sequence_number"),
    ),
}
MAPPING = "delta.columnMapping.mode"
SPECIAL = " \n\t,;{}()="  # in names of columns that Delta stores only with column mapping
READERS = frozenset({ENGINE_READS, "macro.dbt_tidemark.newest_of"})
STORED = {"iceberg": {"tinyint": "int", "smallint": "int"}}
# of models that read by the engine's macros: what such a column says of a row, and its types
HELPERS = {
    "_is_deleted": ("flags the rows to be deleted", ("boolean",)),
    "_is_retracted": ("flags the rows that replace the present row however old they are", ("boolean",)),
    "_versions": ("counts the landed rows that a row stands for", ("bigint", "int", "smallint", "tinyint")),
}


@dataclass(frozen=True)
class Column:
    """A column of a query.

    Attributes:
        name: its name.
        kind: its type in Spark's words.
        limited: `char(n)` or `varchar(n)`, or a nested type that holds one; empty for all other columns.
        fields: the names of its fields at each depth.
    """

    name: str
    kind: str
    limited: str = ""
    fields: tuple[str, ...] = ()


def columns_of_schema(schema: Any) -> list[Column]:
    """Return the columns of a query's schema, a `StructType`."""
    return [
        Column(
            one.name,
            one.dataType.simpleString(),
            (one.metadata or {}).get(LIMITED, ""),
            tuple(_fields(one.dataType.jsonValue())),
        )
        for one in schema.fields
    ]


def described(
    columns: Sequence[Column], table_format: str, settings: Mapping[str, Any], *, may_help: bool
) -> dict[str, Any]:
    """Return what `columns_of_query` of the adapter tells.

    Args:
        columns: the query's columns.
        table_format: `delta` or `iceberg`.
        settings: the model's settings, as `columns_of_query` takes them.
        may_help: whether columns may say what to do with a row, as in `helpers_of`.
    """
    types = {one.name: stored_type(one.kind, table_format) for one in columns}
    newest_by = columns_named(settings["newest_by"], types)
    helpers = helpers_of(types, newest_by) if may_help else []
    stored = [one for one in columns if one.name not in helpers]
    return {
        "types": {one.name: types[one.name] for one in stored},
        "limited": [one.name for one in stored if one.limited],
        "keys": columns_named(settings["unique_key"], types),
        "newest_by": newest_by,
        "helpers": helpers,
        "refused": refused_property(settings["tblproperties"] or {})
        or refused_name(columns, table_format)
        or refused_partition(settings["partition_by"], table_format)
        or refused_type(stored, table_format)
        or refused_helper(types, helpers),
    }


def may_have_helpers(manifest: Any, unique_id: str) -> bool:
    """Return whether a model reads by the engine's macros; in others, all columns are the user's.

    Args:
        manifest: dbt's manifest.
        unique_id: the model.
    """
    return not READERS.isdisjoint(macros_below(manifest, manifest.nodes[unique_id]))


def stored_type(kind: str, table_format: str) -> str:
    """Return the type that a table's column has for values of a query's column.

    Args:
        kind: the type of the query's column.
        table_format: `delta` or `iceberg`, which has no integers of one or two bytes.
    """
    others = STORED.get(table_format, {})
    try:
        kinds = set(scalar_types(kind)) & set(others)
    except ValueError:
        return kind
    if "<" not in kind:
        return others.get(kind, kind)
    for one in kinds:  # after a comma, a colon or an angle bracket, and before one
        for before in "<:,":
            for after in ">,":
                kind = kind.replace(f"{before}{one}{after}", f"{before}{others[one]}{after}")
    return kind


def refused_property(properties: Collection[str]) -> str:
    """Return why a table cannot have a property, and what to do; empty if it can have them all."""
    if MAPPING not in properties:
        return ""
    return (
        f"tblproperties sets {MAPPING}. Delta does not create such a table from a query in one commit, if it "
        f"also has a change data feed, from which other models read what changed. Remove it."
    )


def refused_name(columns: Sequence[Column], table_format: str) -> str:
    """Return why a table cannot have columns of these names, and what to do; empty if it can.

    Args:
        columns: the columns of the query.
        table_format: `delta` or `iceberg`.
    """
    seen: dict[str, str] = {}
    for one in columns:
        lower = one.name.lower()
        if lower in seen:
            return (
                f"the columns `{seen[lower]}` and `{one.name}` have one name for Spark, which does not tell "
                f"upper from lower case. Rename one of them with `as`."
            )
        seen[lower] = one.name
        if found := _reserved(one.name, table_format):
            return found
    if table_format != "delta":
        return ""
    if split := next((one.name for one in columns if "`" in one.name), ""):
        return f"the name `{split}` has a backtick, at which Delta's MERGE stops. Rename it with `as`."
    names = (name for one in columns for name in (one.name, *one.fields))
    return next((_special(name) for name in names if set(name) & set(SPECIAL)), "")


def refused_partition(names: Sequence[str], table_format: str) -> str:
    """Return why a table cannot be partitioned by columns of these names; empty if it can."""
    dotted = next((name for name in names if "." in name and table_format == "delta"), "")
    message = (
        f"the name `{dotted}` in partition_by has a dot, at which Delta's MERGE stops. Rename it with `as`."
    )
    return message if dotted else ""


def refused_type(columns: Sequence[Column], table_format: str) -> str:
    """Return why a table cannot have columns of these types, and what to do; empty if it can.

    Args:
        columns: the columns of the query.
        table_format: `delta` or `iceberg`.
    """
    for one in columns:
        if "<" in one.limited:
            return (
                f"`{one.name}` holds values of a limited length ({one.limited}), which cannot be merged. "
                f"Cast them to string, field by field."
            )
        try:
            kinds = list(scalar_types(one.kind))
        except ValueError:
            continue
        for kind in kinds:
            way_out = _way_out(one.name, kind.lower(), table_format)
            if way_out:
                of = "is" if kind == one.kind else f"is of type {one.kind}, which holds values"
                return f"`{one.name}` {of} {way_out}"
    return ""


def helpers_of(types: Mapping[str, str], newest_by: Collection[str]) -> list[str]:
    """Return the columns that say what to do with a row, and are not stored.

    With `newest_by`, a deleted row stays as a tombstone: a late older version must not bring it back. Unless
    the feed's files decide: then a version after the tombstone brings the key back, however old it is.

    Args:
        types: the types of the query's columns by name.
        newest_by: the columns that order the versions of a key.
    """
    found = [name for name in HELPERS if name in types]
    if newest_by and "_is_retracted" not in types:
        found = [name for name in found if name != "_is_deleted"]
    return found


def refused_helper(types: Mapping[str, str], helpers: Collection[str]) -> str:
    """Return why one of the columns of `helpers_of` is not understood; empty if all are."""
    for name in helpers:
        meaning, kinds = HELPERS[name]
        if types[name] not in kinds:
            return (
                f"`{name}` is of type {types[name]}. In a model that reads by changes() or "
                f"watermark_filter(), it {meaning}, and must be {kinds[0]}. Cast it, or give the column "
                "another name."
            )
    return ""


def _fields(kind: Any) -> Iterator[str]:
    """Yield the names of the fields of a type, given as JSON, at each depth."""
    if not isinstance(kind, dict):
        return
    for field in kind.get("fields", ()):
        yield field["name"]
        yield from _fields(field["type"])
    for part in ("elementType", "keyType", "valueType"):
        yield from _fields(kind.get(part))


def _reserved(name: str, table_format: str) -> str:
    if not name:
        return "a column has no name. Give it one with `as`."
    if name.lower().startswith(OWN):
        return f"the column `{name}` begins with `{OWN}`, as the engine's own columns do. Rename it."
    if name.lower() in RESERVED[table_format]:
        return f"`{name}` is the name of a column of {table_format.title()} itself. Rename the column."
    return ""


def _special(name: str) -> str:
    return (
        f"the name `{name}` has a space or one of the characters {SPECIAL.strip()}, which Delta allows "
        f"only with column mapping, and not together with a change data feed. Rename it with `as`."
    )


def _way_out(name: str, kind: str, table_format: str) -> str:
    if kind == "void":
        return f"NULL without a type. Give it one, such as `cast(null as string) as {name}`."
    if kind.startswith("interval"):
        return f"of type {kind}, which tables do not store. Cast it to string, or select a number."
    if "collate" in kind:
        way_out = f"collate({name}, 'UTF8_BINARY') as {name}"
        return f"of type {kind}. Tables store strings without a collation: select `{way_out}`."
    if kind == "variant" and table_format == "iceberg":
        return f"a variant, which tables of Iceberg do not store here. Select `to_json({name}) as {name}`."
    return ""
