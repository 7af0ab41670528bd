"""The base of all parts of an `external:` block."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part of the block; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
