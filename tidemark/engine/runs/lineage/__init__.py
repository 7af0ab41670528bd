"""OpenLineage events: what runs and landings read and wrote, for a lineage server."""
