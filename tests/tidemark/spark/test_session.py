"""Starting Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.spark import session

GIVEN = ("JAVA_HOME", "PYSPARK_SUBMIT_ARGS")
OPTIONS = {"JAVA_TOOL_OPTIONS": "-Djavax.net.ssl.trustStorePassword=geheim"}
START = """
from pathlib import Path
from tidemark.base.errors import TidemarkError
from tidemark.spark.session import embedded_session
try:
    embedded_session({"spark.driver.extraJavaOptions": "-Dx.password=geheim -Xmx1g"}, Path("logs"))
except TidemarkError as error:
    print(error)
"""
THREADS = """
import threading
import time
from pathlib import Path
from tidemark.spark import session

begun = []

def launch(conf, options):
    begun.append(threading.get_ident())
    time.sleep(0.2)
    return "gateway"

def initialize(gateway):
    session.SparkContext._gateway = gateway

session.launch_gateway = launch
session.SparkContext._ensure_initialized = initialize
threads = [threading.Thread(target=session._start_jvm, args=(None, Path("logs"))) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(begun))
"""


def test_threads_start_one_jvm(tmp_path: Path) -> None:
    """dbt lists relations in several threads, and these may be the first statements."""
    done = subprocess.run(
        [sys.executable, "-c", THREADS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """Spark starts without its log there."""
    (tmp_path / "logs").write_text("a file")
    with session._opened_log(tmp_path / "logs") as log:
        assert not isinstance(log.name, str)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            ["WARNING: Using incubator modules", "Exception in thread main: no"],
            "Exception in thread main: no",
        ),
        (
            ["Error occurred during initialization of VM", "Could not reserve enough space"],
            "Error occurred during initialization of VM Could not reserve enough space",
        ),
        (["", "Picked up JAVA_TOOL_OPTIONS: -Dpassword=x"], ""),
        (["/opt/spark-class: line 71: java: No such file", "more"], "java: No such file"),
        (
            ["OpenJDK 64-Bit Server VM warning: deprecated", "Unrecognized VM option 'Foo=1'"],
            "Unrecognized VM option 'Foo=***",
        ),
        (["26/11/29 10:00:00 WARN Utils: Your hostname", ":: loading settings ::", "no"], "no"),
        (
            ["Error: was -Dfs.s3a.secret.key=geheim -Dp='ge heim' -Dproxy=x http://me:geheim@host"],
            "Error: was -Dfs.s3a.secret.key=*** -Dp=*** -Dproxy=*** http://***@host",
        ),
    ],
)
def test_the_reason_of_java(printed: list[str], reason: str) -> None:
    """Lines that tell no reason are left out."""
    assert session._reason(printed) == reason


def test_java_that_does_not_start_is_reported_in_words(tmp_path: Path) -> None:
    """The message has Java's own reason; what it printed is in spark.log, also if earlier text is there."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/spark.log").write_text("an earlier reason\n")
    for home, reason in (
        (f"{tmp_path}/none", "bin/java: No such file"),
        ("", "Not allowed to specify max heap"),
    ):
        known = {name: value for name, value in os.environ.items() if name not in GIVEN}
        done = subprocess.run(
            [sys.executable, "-c", START],
            env=known | OPTIONS | ({"JAVA_HOME": home} if home else {}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        message = done.stdout
        assert message.startswith("Java did not start: "), message
        assert reason in message.splitlines()[0]
        assert "earlier" not in message
        assert "geheim" not in message
        assert str(Path("logs/spark.log")) in message
        assert reason in (tmp_path / "logs/spark.log").read_text()
