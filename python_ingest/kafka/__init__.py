"""Feeds from Kafka: a stream lands the messages and keeps its offsets in a checkpoint."""
