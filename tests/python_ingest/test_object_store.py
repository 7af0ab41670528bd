"""R5.1: files in an object store land as those of a folder do. Kills: tests/kills."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.servers.object_store import WITHOUT_TAGS, ObjectStore, object_store
from python_ingest.files import staging
from python_ingest.files.landing import Lander
from tests.conftest import FeedFolder, MakeFeed
from tidemark.base.errors import LandingError

pytestmark = [pytest.mark.R1, pytest.mark.R5]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("object store")) as started:
        yield started


@pytest.fixture
def people(store: ObjectStore, spark: SparkSession, prefix: str, make_feed: MakeFeed) -> FeedFolder:
    """The feed `people` in a bucket of its own."""
    bucket = f"raw-{prefix}"
    configure(spark, bucket, store)
    made = make_feed(location=f"s3a://{bucket}/raw people", pattern="dt=*/*.csv*")
    return FeedFolder(spark, made.feed, store.bucket(bucket) / "raw people", made.ops_schema)


def configure(spark: SparkSession, bucket: str, store: ObjectStore) -> None:
    """Set what S3A is to know of a bucket."""
    settings = {
        "endpoint": store.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": store.key,
        "secret.key": store.secret,
        "attempts.maximum": "2",
        "retry.limit": "2",
        WITHOUT_TAGS: "false",
    }
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    for key, value in settings.items():
        hadoop.set(f"fs.s3a.bucket.{bucket}.{key}", value)


def test_objects_land_once_and_a_changed_one_again(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1, R5.1: dated folders, names of any kind, compression, archives that are unpacked in the store."""
    people.write("dt=2025-01-01/one.csv", "id,name\n1,Ada\n")
    people.write("dt=2025-01-01/t w+o ü%41.csv.gz", gzip.compress(b"name,id\nBob,2\n"))
    people.write("dt=2025-01-02/broken.csv", "id\n3\n")
    people.write("dt=2025-01-02/_temporary/0.csv", "id,name\n4,Di\n")
    people.write("other.csv", "id,name\n5,Eve\n")
    people.write("dt=2025-01-03/x.csv.xz", lzma.compress(b"id,name\n6,Flo\n"))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("in/a.csv", "id,name\n7,Gus\n")
    people.write("dt=2025-01-03/x.csv.zip", archive.getvalue())
    monkeypatch.setattr(
        staging, "lake_location", lambda: people.feed.external.location.replace("raw people", "lake")
    )
    first = people.land()
    assert (first.files, first.rows) == (4, 4)
    assert (first.left_out.files, first.left_out.paths) == (1, ("other.csv",))
    assert not list(people.folder.parent.glob("lake/unpacked/**/*.csv*")), "unpacked files are deleted"
    assert first.rejected == {"dt=2025-01-02/broken.csv": "its header lacks name"}
    version = people.version()
    assert (people.land().files, people.version()) == (0, version)
    people.write("dt=2025-01-01/one.csv", "id,name\n1,Ava\n1,Eva\n")
    assert people.land().rows == 2
    assert people.rows("id", "name", "_source_file", "_batch_id") == [
        ("1", "Ada", "dt=2025-01-01/one.csv", 1),
        ("1", "Ava", "dt=2025-01-01/one.csv", 2),
        ("1", "Eva", "dt=2025-01-01/one.csv", 2),
        ("2", "Bob", "dt=2025-01-01/t w+o ü%41.csv.gz", 1),
        ("6", "Flo", "dt=2025-01-03/x.csv.xz", 1),
        ("7", "Gus", "dt=2025-01-03/x.csv.zip!/in/a.csv", 1),
    ]


def test_a_wrong_secret_is_reported_without_its_value(
    people: FeedFolder, prefix: str, store: ObjectStore
) -> None:
    """R1.4: the message says what is wrong, where and what to do; nothing lands, and no secret is shown."""
    people.write("dt=2025-01-01/one.csv", "id,name\n1,Ada\n")
    wrong = f"wrong-{prefix}"
    store.bucket(wrong)
    secret = "not-the-secret"  # noqa: S105
    configure(people.spark, wrong, replace(store, secret=secret))
    external = people.feed.external.model_copy(update={"location": f"s3a://{wrong}/raw"})
    feed = people.feed.model_copy(update={"external": external})
    with pytest.raises(LandingError, match="its location s3a://.* cannot be read") as caught:
        Lander(people.spark, feed, people.ops_schema).land()
    assert secret not in str(caught.value)
    assert "AWS_ACCESS_KEY_ID" in str(caught.value)
