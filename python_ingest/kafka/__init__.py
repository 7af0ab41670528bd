"""Feeds from Kafka: messages land by a stream that keeps its offsets in a checkpoint."""
