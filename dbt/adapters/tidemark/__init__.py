"""dbt's adapter for `type: tidemark`: dbt-spark, and tables that equal a rebuild."""

from dbt.adapters.base import AdapterPlugin
from dbt.include import tidemark

from tidemark.engine.adapter.connections import TidemarkConnectionManager, TidemarkCredentials
from tidemark.engine.adapter.impl import TidemarkAdapter

Plugin = AdapterPlugin(
    adapter=TidemarkAdapter,  # type: ignore[arg-type]
    credentials=TidemarkCredentials,
    include_path=tidemark.PACKAGE_PATH,
    dependencies=["spark"],
)
__all__ = ["Plugin", "TidemarkAdapter", "TidemarkConnectionManager", "TidemarkCredentials"]
