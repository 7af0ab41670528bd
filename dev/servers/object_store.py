"""An S3-compatible object store: s3proxy."""

from __future__ import annotations

import secrets
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dev.servers.programs import JARS, QUICK_JAVA, MissingServerError, free_port
from tidemark.spark.server.common import wait_until
from tidemark.spark.server.watchdog import watchdog

WITHOUT_TAGS = "change.detection.version.required"  # s3proxy has no tag for a file that was copied by hand


@dataclass(frozen=True)
class ObjectStore:
    """An S3-compatible server; an object is a file, a bucket is a folder.

    Attributes:
        folder: the folder of the buckets.
        endpoint: the server's URL.
        key, secret: the accepted credentials.
    """

    folder: Path
    endpoint: str
    key: str = "tidemark"
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that Spark needs to reach it."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
        }

    @property
    def options(self) -> str:
        """Further settings for Spark, as options of `spark-submit`."""
        return f"--conf spark.hadoop.fs.s3a.{WITHOUT_TAGS}=false"

    def bucket(self, name: str) -> Path:
        """Make a bucket, and return its folder."""
        path = self.folder / name
        path.mkdir()
        return path


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """Start s3proxy, and stop it at the end."""
    jar = next(JARS.glob("s3proxy-*.jar"), None)
    if jar is None:
        raise MissingServerError("the S3 server's jar is not in .servers/: `make test` fetches it")
    buckets = folder / "buckets"
    buckets.mkdir(parents=True)
    store = ObjectStore(buckets, f"http://127.0.0.1:{free_port()}")
    settings = {
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.endpoint": store.endpoint,
        "s3proxy.identity": store.key,
        "s3proxy.credential": store.secret,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(buckets),
    }
    properties = folder / "s3proxy.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
    with (folder / "s3proxy.log").open("w") as log, watchdog(folder):
        command = ["java", *QUICK_JAVA, "-Xmx256m", "-jar", str(jar), "--properties", str(properties)]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until(lambda: _answers(store.endpoint), process, folder / "s3proxy.log")
            yield store
        finally:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5)  # noqa: S310  # our own server
    except urllib.error.HTTPError:
        return True  # it refuses a request without a signature, so it runs
    except OSError:
        return False
    return True
