"""The targets of a simulation; each accepts one day at a time, and the servers can limit the rate."""

from python_ingest.simulators.files import FilesTarget
from python_ingest.simulators.kafka import KafkaTarget
from python_ingest.simulators.postgres import PostgresTarget

__all__ = ["FilesTarget", "KafkaTarget", "PostgresTarget"]
