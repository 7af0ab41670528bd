"""The tests that fail on purpose or for a known reason, on Tidemark and on stock dbt-spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Why a test fails; an empty text says that it passes.

    Attributes:
        tidemark: why it fails on `type: tidemark`.
        stock: why it fails on dbt-spark.
    """

    tidemark: str = ""
    stock: str = ""


DIFFERENCES: dict[str, Difference] = {}
