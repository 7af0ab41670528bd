"""A Kafka broker in KRaft mode: one process, which is also the controller."""

from __future__ import annotations

import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from dev.servers.programs import JARS, QUICK_JAVA, MissingServerError, free_port
from tidemark.spark.server.common import scratch_folder, wait_until

SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.ms=-1
log.retention.check.interval.ms=1000
log.initial.task.delay.ms=500
"""


class Kafka:
    """A broker.

    Args:
        folder: the folder of its data and log.
        port, controller: ports on 127.0.0.1.

    Attributes:
        servers: the broker's address.
        process: the broker's process, once started.
    """

    def __init__(self, folder: Path, port: int, controller: int) -> None:
        self.servers = f"127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._folder = folder
        jars = [str(jar) for jar in sorted(JARS.glob("*.jar")) if not jar.name.startswith("s3proxy")]
        if not any("/kafka_" in jar for jar in jars):
            raise MissingServerError("Kafka's jars are not in .servers/: `make test` fetches them")
        self._java = ["java", *QUICK_JAVA, "-Xmx512m", "-cp", ":".join(jars)]
        settings = SETTINGS.format(port=port, controller=controller, folder=folder)
        (folder / "server.properties").write_text(settings, encoding="utf-8")
        identity = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        format_data = ["kafka.tools.StorageTool", "format", "-t", identity, "-c", "server.properties"]
        done = subprocess.run([*self._java, *format_data], cwd=folder, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).decode()[-2000:])

    @property
    def url(self) -> str:
        """The broker's URL for a connection."""
        return f"kafka://{self.servers}"

    def start(self) -> None:
        """Start the broker, and wait until it answers."""
        log = self._folder / "log"
        with log.open("a") as to:
            command = [*self._java, "kafka.Kafka", str(self._folder / "server.properties")]
            self.process = subprocess.Popen(
                command, cwd=self._folder, stdout=to, stderr=to, start_new_session=True
            )
        wait_until(self._answers, self.process, log)

    def stop(self) -> None:
        """Kill the broker; its data stay."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def _answers(self) -> bool:
        admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        try:
            return bool(admin.list_topics(timeout=2).brokers)
        except KafkaException:
            return False


@contextmanager
def kafka() -> Iterator[Kafka]:
    """Start a broker, and stop it at the end."""
    with scratch_folder() as folder:
        broker = Kafka(folder, free_port(), free_port())
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()
