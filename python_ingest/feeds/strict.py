"""The base of all parts of an `external:` block."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

NO_NUMBER = "a number is needed"


class Strict(BaseModel):
    """A part of the block; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `true` where a number belongs: Python takes it for 1."""
        kind = cls.model_fields[info.field_name or ""].annotation
        kinds = get_args(kind) or (kind,)
        if isinstance(value, bool) and bool not in kinds and any(map(_is_number, kinds)):
            raise ValueError(NO_NUMBER)
        return value


def _is_number(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, (int, float))
