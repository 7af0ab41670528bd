"""Starting Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GIVEN = ("JAVA_HOME", "PYSPARK_SUBMIT_ARGS")
START = """
from pathlib import Path
from tidemark.base.errors import TidemarkError
from tidemark.spark.session import embedded_session
try:
    embedded_session({"spark.driver.extraJavaOptions": "-Xmx1g"}, Path("logs"))
except TidemarkError as error:
    print(error)
"""


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
            env=known | ({"JAVA_HOME": home} if home else {}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        message = done.stdout
        assert message.startswith("Java did not start: "), message
        assert reason in message.splitlines()[0]
        assert "earlier" not in message
        assert str(Path("logs/spark.log")) in message
        assert reason in (tmp_path / "logs/spark.log").read_text()
