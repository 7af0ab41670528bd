"""Where a simulation goes; a target takes a day at a time, and the two servers may be paced by a rate."""

from python_ingest.simulators.files import FilesTarget
from python_ingest.simulators.kafka import KafkaTarget
from python_ingest.simulators.postgres import PostgresTarget

__all__ = ["FilesTarget", "KafkaTarget", "PostgresTarget"]
