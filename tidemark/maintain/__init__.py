"""Clustering, compaction, expiry of versions, purges, clean-up of logs."""
