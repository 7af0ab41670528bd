"""The version that `dbt --version` and dbt's log show."""

version = "0.1.0"
