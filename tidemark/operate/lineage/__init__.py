"""The lineage of landings."""
