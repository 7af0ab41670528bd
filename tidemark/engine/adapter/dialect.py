"""The dialect of SQL for tools that look for it by the name of the adapter, such as recce: that of Spark."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark


class Tidemark(Spark):
    """Spark's dialect as `tidemark`, the adapter's name in the manifest; an entry point of this package."""
