"""Select the kind of a feed's `external:` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from python_ingest.feeds.external_files import (
    AnyFiles,
    CsvExternal,
    ExcelExternal,
    JsonExternal,
    TypedExternal,
)
from python_ingest.feeds.external_table import TableExternal
from python_ingest.feeds.external_topic import TopicExternal

AnyExternal = AnyFiles | TableExternal | TopicExternal
CONNECTORS: dict[Any, type[AnyExternal]] = {"postgresql": TableExternal, "kafka": TopicExternal}
FORMATS: dict[Any, type[AnyExternal]] = {
    "csv": CsvExternal,
    "excel": ExcelExternal,
    "json": JsonExternal,
}


def external_of(block: Mapping[str, Any]) -> AnyExternal:
    """Validate a block by its `connector` or `file_format`.

    Raises:
        pydantic.ValidationError: if the block is invalid.
        ValueError: if the connector is unknown.
    """
    return _kind(block).model_validate(block)


def external_keys(block: Mapping[str, Any], part: str | None = None) -> list[str]:
    """Return the allowed keys of a block, or of a part of it (`options`, `contract`)."""
    kind = _kind(block)
    fields = kind.model_fields[part].default.__class__.model_fields if part else kind.model_fields
    return sorted(fields)


def _kind(block: Mapping[str, Any]) -> type[AnyExternal]:
    if "connector" in block:
        return CONNECTORS.get(block["connector"], TableExternal)
    return FORMATS.get(block.get("file_format"), TypedExternal)
