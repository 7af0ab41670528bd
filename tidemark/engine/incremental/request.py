"""What is known of a model and of the changes of its sources when a plan is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.incremental.join_order import Known


@dataclass(frozen=True)
class Request:
    """What a plan is made from.

    Attributes:
        key: the columns of the model's key; empty if rows may repeat.
        types: the types of its columns, by name.
        changed: the tables that changed since the model's last run.
        never_null: columns of its sources that hold no NULL, as `schema.table.column`.
        is_clean: whether the table is exactly as its last recorded run left it.
        sizes: the bytes of the sources; empty if they are not known.
        size: the bytes of the model's table.
        partition: the column whose partitions are to be replaced as a whole, or empty.
        known_keys: the keys of the sources, by `schema.table`, for a model without a key of its own.
        maintain: the setting `meta.maintain`.
        why_full: why the query is computed in full, though its changes may be applied; empty if they are.
        few: the changed tables with so few changed rows that these can be sent to all tasks of a join.
        removes: whether the changes may have removed or replaced rows.
    """

    key: tuple[str, ...]
    types: Mapping[str, str]
    changed: frozenset[str]
    never_null: frozenset[str] = frozenset()
    is_clean: bool = True
    partition: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    size: int = 0
    known_keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    maintain: str = "auto"
    why_full: str = ""
    few: frozenset[str] = frozenset()
    removes: bool = True

    @property
    def known(self) -> Known:
        """What is known of the tables."""
        return Known(self.few, self.sizes)


def request_of(values: Mapping[str, Any]) -> Request:
    """Return a request from values that a macro or a note gives."""
    lists = {
        name: frozenset(part.lower() for part in values.get(name, ()))
        for name in ("changed", "never_null", "few")
    }
    key = tuple(name.lower() for name in values["key"])
    types = {name.lower(): kind for name, kind in values["types"].items()}
    partition = str(values.get("partition", "")).lower()
    return Request(**{**values, **lists, "key": key, "types": types, "partition": partition})
