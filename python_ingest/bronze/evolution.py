"""How the columns of a bronze table follow its feed: new ones are added, and types become wider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from python_ingest.bronze.columns import Target, in_sql, type_in_sql
from python_ingest.bronze.widening import iceberg_widens, widened
from python_ingest.feeds.declarations import Feed
from tidemark.base.errors import LandingError
from tidemark.lake.table_format import DELTA


def kept_target(feed: Feed, declared: Target, held: DataType | None) -> Target:
    """Return a declared column with the type that it keeps: a type that landing widened stays wide.

    Args:
        feed: the feed.
        declared: the column as it is declared now.
        held: its type in the table; None if the table does not have it.

    Raises:
        LandingError: if neither type widens to the other.
    """
    if held is None or widened(held, declared.type) == declared.type:
        return declared
    if widened(declared.type, held) != held:
        raise LandingError(
            f"{feed.table}.{declared.name} has type {held.simpleString()} but is declared as "
            f"{declared.type.simpleString()}: its values might not fit.",
            f"Declare it as {held.simpleString()} in {feed.declared_in} and cast it in silver.",
        )
    return Target(declared.name, held, declared.field)


def evolving_clauses(
    feed: Feed, present: Sequence[Target], wanted: Sequence[Target], table_format: str
) -> list[str]:
    """Return the clauses after `alter table` that give a table the wanted columns; none if it has them.

    Args:
        feed: the feed.
        present: the columns that the table has.
        wanted: the columns that it must have.
        table_format: `delta` or `iceberg`.

    Raises:
        LandingError: if Iceberg cannot widen a type.
    """
    held = {target.name: target.type for target in present}
    clauses: list[str] = []
    for target in wanted:
        name = in_sql(target.name)
        if target.name not in held:
            clauses.append(f"add columns ({name} {type_in_sql(target.type)})")
        else:
            clauses += _widenings(feed, name, held[target.name], target.type, table_format)
    if table_format == DELTA and any(clause.startswith("alter column") for clause in clauses):
        clauses.insert(0, "set tblproperties ('delta.enableTypeWidening' = 'true')")
    return clauses


def _widenings(feed: Feed, path: str, held: DataType, wanted: DataType, table_format: str) -> Iterator[str]:
    """Yield the clauses that change a column, or a part of it, from one type to another."""
    if held == wanted:
        return
    if isinstance(held, StructType) and isinstance(wanted, StructType):
        for field in wanted.fields:
            inner = f"{path}.{in_sql(field.name)}"
            if field.name in held.names:
                yield from _widenings(feed, inner, held[field.name].dataType, field.dataType, table_format)
            else:
                yield f"add columns ({inner} {type_in_sql(field.dataType)})"
    elif isinstance(held, ArrayType) and isinstance(wanted, ArrayType):
        yield from _widenings(feed, f"{path}.element", held.elementType, wanted.elementType, table_format)
    elif isinstance(held, MapType) and isinstance(wanted, MapType):
        yield from _widenings(feed, f"{path}.value", held.valueType, wanted.valueType, table_format)
    elif table_format == DELTA or iceberg_widens(held, wanted):
        yield f"alter column {path} type {type_in_sql(wanted)}"
    else:
        raise LandingError(
            f"{feed.table}.{path} has type {held.simpleString()}; Iceberg cannot widen it to "
            f"{wanted.simpleString()}.",
            f"Declare `contract: {{type_change: rescue}}` in {feed.declared_in}, or land the feed "
            f"from the start with the column declared as {wanted.simpleString()}.",
        )
