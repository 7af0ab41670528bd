"""Columns whose values are in the names of folders: the key `partitions` of dbt's `external:` block."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from python_ingest.feeds.strict import Strict


class Partition(Strict):
    """A column whose values are in the names of folders: `year=2025/` for the column `year`.

    Attributes:
        name: the name of the column in bronze, and in the folders.
        data_type: `string`; silver casts the values.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    data_type: Literal["string"] = "string"


def _without_descriptions(value: Any) -> Any:
    """Drop what dbt adds to a partition: its description and its meta."""
    if not isinstance(value, (list, tuple)):
        return value
    known = Partition.model_fields
    return [
        {key: of for key, of in one.items() if key in known and of is not None}
        if isinstance(one, dict)
        else {"name": one}
        for one in value
    ]


def _names_differ(value: tuple[Partition, ...]) -> tuple[Partition, ...]:
    names = [partition.name for partition in value]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"declared twice: {', '.join(twice)}")
    return value


Partitions = Annotated[
    tuple[Partition, ...], BeforeValidator(_without_descriptions), AfterValidator(_names_differ)
]
