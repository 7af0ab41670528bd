"""What the engine takes from dbt-core: commands, profiles, broken nodes, texts; its face is `adapter/`."""
