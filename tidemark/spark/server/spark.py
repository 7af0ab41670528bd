"""A server of the installed pyspark: one process, with the settings of an embedded Spark."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from tidemark.spark.java_properties import write_properties
from tidemark.spark.server.common import answers, scratch_folder, wait_until

HOST = "127.0.0.1"
HOME = Path(pyspark.__file__).parent
SECONDS = 10  # time for Spark to end by itself


@contextmanager
def spark_server(
    main_class: str,
    port: int,
    settings: Mapping[str, str],
    options: Sequence[str] = (),
    log: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it answers, and stop it at the end.

    Args:
        main_class: the class that Spark starts.
        port: the server's port on 127.0.0.1.
        settings: Spark's settings, by name; paths are relative to the current folder.
        options: further words of the command line.
        log: the file for the server's output; None for one that is deleted at the end.
    """
    with scratch_folder() as folder:
        own = {"spark.sql.catalogImplementation": "hive", "spark.local.dir": str(folder)}
        properties = folder / "spark.properties"  # not in the command line, which all users of a machine see
        write_properties(properties, {**settings, **own})
        command = [str(HOME / "bin" / "spark-submit"), "--class", main_class]
        command += ["--properties-file", str(properties)]
        environment = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": HOST}
        log = log or folder / "log"
        with log.open("wb") as to:
            process = subprocess.Popen(
                [*command, "spark-internal", *options],
                env=environment,
                stdout=to,
                stderr=to,
                start_new_session=True,
            )
        try:
            wait_until(lambda: answers(port), process, log)
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS)
            process.kill()
            process.wait()
