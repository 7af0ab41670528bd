"""A project of models whose texts are given, over tables with columns of strange names and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import VariantVal

from tests.lakehouse.conftest import FixtureProject


class StrangeProject(FixtureProject):
    """Models are given as SQL in which `@name` stands for a source; their tables must be what it gives.

    Attributes:
        queries: the models' queries, by name.
        sources: the tables that they read, by name.
    """

    def __init__(self, spark: SparkSession, prefix: str, folder: Path) -> None:
        super().__init__(spark, "guarded", prefix)
        self.models = self.own_copy(folder)
        for path in self.models.iterdir():
            path.unlink()
        self.queries: dict[str, str] = {}
        self.sources: dict[str, str] = {}

    def add_source(self, name: str, columns: str) -> str:
        """Create a table that models can read; return its name with the schema. On Delta any name will do."""
        table = self.sources[name] = f"{self.prefix}_bronze.{name}"
        mapped = self._with_changes().replace("(", "('delta.columnMapping.mode' = 'name', ")
        self.spark.sql(f"create table {table} ({columns}) {mapped}")
        tables = ", ".join(f"{{name: {each}}}" for each in self.sources)
        schema = f"name: strange, schema: {self.prefix}_bronze"
        (self.models / "strange.yml").write_text(f"sources: [{{{schema}, tables: [{tables}]}}]")
        return table

    def add_model(self, name: str, sql: str, key: str = "id") -> None:
        self.queries[name] = sql
        text = f"{{% raw %}}{sql}{{% endraw %}}"
        for source in self.sources:
            text = text.replace(
                f"@{source}", f"{{% endraw %}}{{{{ source('strange', '{source}') }}}}{{% raw %}}"
            )
        quoted = key.encode("unicode_escape").decode().replace("'", "\\'")
        (self.models / f"{name}.sql").write_text(f"{{{{ config(unique_key='{quoted}') }}}}\n{text}")

    def remove_model(self, name: str) -> None:
        (self.models / f"{name}.sql").unlink()
        del self.queries[name]

    def differing(self) -> dict[str, Any]:
        """Return the models whose tables are not what their queries give, with the rows of both sides."""
        found = {}
        for name, sql in self.queries.items():
            query = sql
            for source, table in self.sources.items():
                query = query.replace(f"@{source}", table)
            sides = [self._values(rows) for rows in (query, f"select * from {self.table(name)}")]
            if sides[0] != sides[1]:
                found[name] = sides
        return found

    def _values(self, sql: str) -> list[str]:
        rows = self.spark.sql(sql)
        names = [name.lower() for name in rows.columns]
        return sorted(_text(dict(zip(names, row, strict=True))) for row in rows.collect())


def _text(value: Any) -> str:
    """Return a value as text; maps and variants with the same values are alike."""
    if isinstance(value, dict):
        return json.dumps(sorted((_text(key), _text(one)) for key, one in value.items()))
    if isinstance(value, (list, tuple)):
        return json.dumps([_text(one) for one in value])
    return f"{type(value).__name__} {value.toJson() if isinstance(value, VariantVal) else value!r}"
