"""The version that `dbt --version` and dbt's log show: that of the installed package."""

from tidemark.base.distribution import version as version_of

version = version_of()
