"""The columns of a bronze table, and the fields of a file that fill them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType


@dataclass(frozen=True)
class Target:
    """A column of the bronze table.

    Attributes:
        name: its name in bronze.
        type: its type in bronze.
        field: its name in files; None if landing added the column: any field with that SQL name fills it.
    """

    name: str
    type: DataType
    field: str | None = None

    @property
    def in_file(self) -> str:
        return self.field or self.name


def sql_name(field: str) -> str:
    """Return the column's name for a field that is not declared: `E-mail (work)` becomes `e_mail_work`.

    Returns:
        Lower-case letters, digits and `_`, starting with a letter; empty if the field has none of them.
    """
    name = re.sub(r"\W+", "_", field.lower()).strip("_")
    return f"c_{name}" if name[:1].isdigit() else name


def fields_of(targets: Sequence[Target], names: Sequence[str], *, ignores_case: bool) -> dict[str, str]:
    """Return which field of a file fills which column.

    Args:
        targets: the columns.
        names: the file's fields.
        ignores_case: whether the letter case of fields may differ from the declaration.

    Returns:
        Fields by column name, without the columns that the file lacks.
    """
    spelled = {name.lower() if ignores_case else name: name for name in names}
    wanted = {t.name: t.field.lower() if ignores_case else t.field for t in targets if t.field}
    found = {column: spelled[field] for column, field in wanted.items() if field in spelled}
    others = named(set(names) - set(found.values()))
    return found | {t.name: others[t.name] for t in targets if not t.field and t.name in others}


def named(fields: set[str]) -> dict[str, str]:
    """Return fields by their SQL names, without fields whose SQL name is empty or not unique."""
    counts = Counter(sql_name(field) for field in fields)
    return {name: field for field in fields if (name := sql_name(field)) and counts[name] == 1}


def in_sql(name: str) -> str:
    """Return a column's or field's name as SQL."""
    return "`" + name.replace("`", "``") + "`"


def type_in_sql(of: DataType) -> str:
    """Return a type as SQL, with the names of its fields quoted."""
    if isinstance(of, StructType):
        fields = (f"{in_sql(field.name)}: {type_in_sql(field.dataType)}" for field in of.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(of, ArrayType):
        return f"array<{type_in_sql(of.elementType)}>"
    if isinstance(of, MapType):
        return f"map<{type_in_sql(of.keyType)}, {type_in_sql(of.valueType)}>"
    return of.simpleString()


def has_text_keys(of: DataType) -> bool:
    """Return whether the keys of all maps in a type are text, as in JSON."""
    if isinstance(of, MapType) and not isinstance(of.keyType, StringType):
        return False
    return all(map(has_text_keys, _parts(of)))


def case_twins(of: DataType) -> list[str]:
    """Return fields of a struct in a type whose names differ in letter case only; no table can have them."""
    if isinstance(of, StructType):
        counts = Counter(name.lower() for name in of.names)
        if twins := [name for name in of.names if counts[name.lower()] > 1]:
            return twins
    return next(filter(None, map(case_twins, _parts(of))), [])


def _parts(of: DataType) -> list[DataType]:
    if isinstance(of, StructType):
        return [field.dataType for field in of.fields]
    if isinstance(of, MapType):
        return [of.keyType, of.valueType]
    return [of.elementType] if isinstance(of, ArrayType) else []
