"""A column as it is proposed: its name, its types, its SQL in silver."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from python_ingest.bronze.columns import sql_name
from python_ingest.errors import TidemarkError
from python_ingest.files.formats.rescue import text_in_sql
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
    """A column as it is proposed.

    Attributes:
        name: in bronze and silver.
        field: its name in the file.
        bronze_type: in bronze.
        type: in silver.
        is_required: True when no record of the sample lacks it.
        nulls: words that stand for NULL in the file.
        is_keyword: True when it has another name because its own is a word of SQL.
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
        """True when silver's type is another than bronze's."""
        return self.type != self.bronze_type

    @property
    def sql(self) -> str:
        """The value in silver."""
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
        """The condition that a value is there and has not the column's type."""
        words = ", ".join(text_in_sql(word) for word in ("", *self.nulls))
        text = f"trim({self.name}_text)"
        return f"{self.name} is null and {text} {f'not in ({words})' if self.nulls else f'!= {words}'}"

    @property
    def silver_type(self) -> str:
        return "string" if self.type.startswith("map<") else self.type

    @property
    def renamed(self) -> str:
        """Which name the column has instead of its own, and why."""
        return f"{self.field} to {self.name}{' (an SQL keyword)' if self.is_keyword else ''}"

    @property
    def words(self) -> str:
        return WORDS[self.type.partition("(")[0]]


def proposed_column(sample: Sample, field: str, entity: str) -> Proposed:
    """Propose a column for a field of the sample.

    Args:
        sample: what the files hold.
        field: its name in the files.
        entity: what one record is; begins the column's name where its own is a word of SQL.

    Raises:
        TidemarkError: when dbt would take the field's name for Jinja.
    """
    name, of = sql_name(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field)), sample.types[field]
    if JINJA.search(field):
        raise TidemarkError(
            f"The column name {field!r} would be Jinja in dbt.",
            "Declare the feed by hand, under another name: docs/landing.md.",
        )
    required = all(row.get(field) is not None for row in sample.records)
    name = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        name = f"column_{list(sample.types).index(field) + 1}"
    is_keyword = name.upper() in _keywords()
    name = f"{entity}_{name}" if is_keyword else name
    bronze = "string" if sample.file_format == "csv" else of
    return Proposed(name, field, bronze, of, required, sample.nulls.get(field, ()), is_keyword)


@cache
def _keywords() -> set[str]:
    """Return the words that sqlfluff does not take as names, where it is installed."""
    try:
        from sqlfluff.core.dialects import dialect_selector
    except ImportError:
        return {"DATE", "ORDER", "TIMESTAMP", "USER", "VALUES", "TYPE", "COMMENT"}
    dialect = dialect_selector("sparksql")
    return set(dialect.sets("unreserved_keywords")) | set(dialect.sets("reserved_keywords"))
