"""Select the kind of a feed's `external:` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from python_ingest.feeds.external_files import AnyFiles, TypedExternal
from python_ingest.feeds.external_table import TableExternal
from python_ingest.feeds.external_topic import TopicExternal
from python_ingest.feeds.file_formats import FILE_FORMATS

AnyExternal = AnyFiles | TableExternal | TopicExternal
CONNECTORS: dict[Any, type[AnyExternal]] = {"postgresql": TableExternal, "kafka": TopicExternal}


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
    known = FILE_FORMATS.get(str(block.get("file_format")))
    return known.external if known else TypedExternal
