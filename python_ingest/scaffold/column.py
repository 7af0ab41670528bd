"""A proposed column: its name, its types and its SQL in silver."""

from __future__ import annotations

import re
from dataclasses import dataclass

from python_ingest.errors import TidemarkError
from python_ingest.files.formats.rescue import text_in_sql
from python_ingest.scaffold.reading.names import column_names
from python_ingest.scaffold.sampling import Sample

JINJA = re.compile(r"\{[{%#]+")
WORDS = {
    "bigint": "a whole number",
    "decimal": "a number",
    "date": "a date (yyyy-MM-dd)",
    "timestamp": "a time (yyyy-MM-ddTHH:mm:ss)",
    "boolean": "true or false",
}


@dataclass(frozen=True)
class Proposed:
    """A proposed column.

    Attributes:
        name: the name in bronze and silver.
        field: the name in the file.
        bronze_type: the type in bronze.
        type: the type in silver.
        is_required: whether every record of the sample has a value.
        nulls: words that mean NULL in the file.
        is_keyword: whether the column was renamed because its name is an SQL keyword.
    """

    name: str
    field: str
    bronze_type: str
    type: str
    is_required: bool
    nulls: tuple[str, ...] = ()
    is_keyword: bool = False

    @property
    def is_cast(self) -> bool:
        """Whether the types in silver and bronze differ."""
        return self.type != self.bronze_type

    @property
    def sql(self) -> str:
        """The SQL of the value in silver."""
        if self.type.startswith("map<"):
            return f"to_json({self.name})"
        if self.type == "string":
            return f"nullif(trim({self.name}), '')"
        if not self.is_cast:
            return self.name
        if self.type == "date":
            return f"cast(try_to_timestamp({self.name}, 'yyyy-MM-dd') as date)"
        if self.type.startswith("decimal"):
            scale = int(self.type.rstrip(")").partition(",")[2])
            pattern = f"^-?[0-9]{{1,{18 - scale}}}([.][0-9]{{1,{scale}}})?$"
            return f"if({self.name} rlike '{pattern}', try_cast({self.name} as {self.type}), null)"
        return f"try_cast({self.name} as {self.type})"

    @property
    def broken(self) -> str:
        """The condition for a value that is present but does not have the column's type."""
        words = ", ".join(text_in_sql(word) for word in ("", *self.nulls))
        text = f"trim({self.name}_text)"
        return f"{self.name} is null and {text} {f'not in ({words})' if self.nulls else f'!= {words}'}"

    @property
    def silver_type(self) -> str:
        return "string" if self.type.startswith("map<") else self.type

    @property
    def renamed(self) -> str:
        """The old and the new name, with the reason if it is an SQL keyword."""
        return f"{self.field} to {self.name}{' (an SQL keyword)' if self.is_keyword else ''}"

    @property
    def words(self) -> str:
        return WORDS[self.type.partition("(")[0]]


def proposed_column(sample: Sample, field: str, entity: str) -> Proposed:
    """Propose a column for a field of the sample.

    Args:
        sample: the sample of the files.
        field: the name in the files.
        entity: what one record is; the prefix of the column's name if that is an SQL keyword.

    Raises:
        TidemarkError: when dbt would read the field's name as Jinja.
    """
    (name, is_keyword), of = column_names(tuple(sample.types), entity)[field], sample.types[field]
    if JINJA.search(field):
        raise TidemarkError(
            f"The column name {field!r} would be Jinja in dbt.",
            "Declare the feed by hand, under another name: docs/landing.md.",
        )
    required = all(row.get(field) is not None for row in sample.records)
    bronze = "string" if sample.file_format in ("csv", "excel") else of
    return Proposed(name, field, bronze, of, required, sample.nulls.get(field, ()), is_keyword)
