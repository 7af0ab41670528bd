"""The version of dbt-core."""

from dbt.version import __version__ as dbt_version

__all__ = ["dbt_version"]
