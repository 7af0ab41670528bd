"""Which fields are in `_rescued_data`: values that do not fit their column, and fields without a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target, sql_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MISFIT, UNDECLARED = "values that do not fit their columns", "fields that are not declared"
FIELDS = 5  # names of fields in a message
COUNTED = 1000  # names of fields: files with more have data as names


@dataclass
class Rescued:
    """What a landing has put into `_rescued_data`.

    Attributes:
        misfits: by field, the number of records with a value that does not fit its column.
        undeclared: by field, the number of records that have the field, which no column takes.
        misfit_records: the number of records with such values.
        undeclared_records: the number of records with such fields.
    """

    misfits: Counter[str] = field(default_factory=Counter)
    undeclared: Counter[str] = field(default_factory=Counter)
    misfit_records: int = 0
    undeclared_records: int = 0

    def add(self, other: Rescued) -> None:
        """Add what another batch has rescued."""
        self.misfits.update(other.misfits)
        self.undeclared.update(other.undeclared)
        self.misfit_records += other.misfit_records
        self.undeclared_records += other.undeclared_records


def counted(rows: DataFrame, targets: Sequence[Target]) -> tuple[int, Rescued]:
    """Return the number of rows of bronze, and what is in their `_rescued_data`; most often in one query."""
    number, with_some = rows.agg(f.count("*"), f.count("_rescued_data")).collect()[0]
    return number, rescued_in(rows, targets) if with_some else Rescued()


def rescued_in(rows: DataFrame, targets: Sequence[Target]) -> Rescued:
    """Count the fields in `_rescued_data`, in one query, or in two if records have fields of both kinds.

    Args:
        rows: rows of bronze.
        targets: bronze's columns.
    """
    names = rows.where("_rescued_data is not null").select(
        f.json_object_keys("_rescued_data").alias("_names")
    )
    by_name = names.select(f.explode("_names").alias("name")).groupBy("name").count()
    found: Any = by_name.orderBy(f.desc("count"), "name").limit(COUNTED).collect()
    misfits, undeclared = _by_kind({row["name"]: row["count"] for row in found}, targets)
    known = f.array(*map(f.lit, misfits)).cast("array<string>")
    records: Any = [names.count()] * 2
    if misfits and undeclared:
        counts = (
            f.count_if(f.arrays_overlap("_names", known)),
            f.count_if(f.size(f.array_except("_names", known)) > 0),
        )
        records = names.agg(*counts).collect()[0]
    return Rescued(misfits, undeclared, records[0] if misfits else 0, records[1] if undeclared else 0)


def _by_kind(counts: Mapping[str, int], targets: Sequence[Target]) -> tuple[Counter[str], Counter[str]]:
    """Divide the numbers by field: fields that a column takes, and others."""
    fields = {target.field for target in targets if target.field}
    added = {target.name for target in targets if not target.field}  # any field with that SQL name fills it
    misfits: Counter[str] = Counter()
    undeclared: Counter[str] = Counter()
    for name, number in counts.items():
        (misfits if name in fields or sql_name(name) in added else undeclared)[name] = number
    return misfits, undeclared
