"""The targets of a simulation; each accepts one day at a time, and the servers can limit the rate."""

from dev.simulators.files import FilesTarget
from dev.simulators.kafka import KafkaTarget
from dev.simulators.postgres import PostgresTarget

__all__ = ["FilesTarget", "KafkaTarget", "PostgresTarget"]
