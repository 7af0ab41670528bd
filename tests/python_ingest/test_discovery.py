"""Which files a landing looks at, in which order, and what it does with one that changed."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from python_ingest.feeds.paths import as_uri, regex_of
from tests.conftest import FeedFolder, MakeFeed
from tidemark.base.errors import LandingError

NAMES = ["a b.csv", "100%.csv", "ü\u00a0€.csv", "a+b=c&d.csv", "[1]{2}.csv", "it's #1;~^`|.csv", "q?.csv"]
SIGNS = [chr(code) for code in (*range(0x20, 0x180), 0x2028, 0x1F600) if chr(code) not in "/:\\"]


def at(path: Path, clock: str) -> None:
    """Give a file a modification time of 2025-01-01, UTC."""
    moment = datetime.fromisoformat(f"2025-01-01T{clock}").replace(tzinfo=UTC).timestamp()
    os.utime(path, (moment, moment))


@pytest.mark.R4
@pytest.mark.formats(day="delta", night="delta iceberg", core="delta")
def test_only_files_after_the_checkpoint_are_read(make_feed: MakeFeed) -> None:
    """R4.1: order1 2:00, order2 3:00, order3 4:00; the checkpoint says 3:00: only order3 is read."""
    orders = make_feed(discovery="modified_after", overlap="0 seconds")
    at(orders.write("order2.csv", "id,name\n2,Bob\n"), "03:00")
    at(orders.write("order0.csv", "id\n0\n"), "01:00")
    assert orders.land().rejected
    at(orders.write("order1.csv", "id,name\n1,Ada\n"), "02:00")
    at(orders.write("order3.csv", "id,name\n3,Cy\n"), "04:00")
    outcome = orders.land()
    assert outcome.files == 1
    assert [*outcome.rejected] == ["order0.csv"], "what was set aside is looked at again, however old"
    assert orders.rows("id", "_source_file") == [("2", "order2.csv"), ("3", "order3.csv")]
    at(orders.write("tied.csv", "id,name\n4,Di\n"), "04:00")
    assert orders.land().files == 1, "a file of the checkpoint's very time is not lost"


@pytest.mark.R4
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_an_overlap_covers_late_files(make_feed: MakeFeed) -> None:
    """R4.1: a file that appears late with an older time is landed within the overlap, and once."""
    orders = make_feed(discovery="modified_after", overlap="90 minutes")
    at(orders.write("order3.csv", "id,name\n3,Cy\n"), "04:00")
    orders.land()
    at(orders.write("order2.csv", "id,name\n2,Bob\n"), "03:00")
    at(orders.write("order1.csv", "id,name\n1,Ada\n"), "02:00")
    assert orders.land().files == 1
    assert orders.land().files == 0
    assert orders.rows("id") == [("2",), ("3",)]


@pytest.mark.R1
def test_patterns_choose_paths(make_feed: MakeFeed) -> None:
    """R1.1: nested date folders by a glob with folders in it; hidden names are passed over."""
    people = make_feed(pattern="dt=2025-0[12]-*/part-?.csv")
    for path in (
        "dt=2025-01-01/part-1.csv",
        "dt=2025-02-01/part-2.csv",
        "dt=2025-03-01/part-3.csv",
        "dt=2025-01-01/part-10.csv",
        "dt=2025-01-01/deeper/part-1.csv",
        "dt=2025-01-01/_part-1.csv",
        "_temporary/dt=2025-01-01/part-1.csv",
        "dt=2025-01-01/.part-4.csv",
    ):
        people.write(path, f"id,name\n{path[-5]},x\n")
    assert people.land().files == 2
    assert people.rows("_source_file") == [("dt=2025-01-01/part-1.csv",), ("dt=2025-02-01/part-2.csv",)]


@pytest.mark.R1
def test_young_files_wait(make_feed: MakeFeed) -> None:
    """R1.1: with `settle`, a file that may still be written is left for a later run."""
    people = make_feed(settle="1 hour")
    young, old = people.write("young.csv", "id,name\n1,A\n"), people.write("old.csv", "id,name\n2,B\n")
    at(old, "01:00")
    assert people.land().files == 1
    at(young, "02:00")
    assert people.land().files == 1


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R1
def test_a_backlog_is_landed_in_batches_the_oldest_first(make_feed: MakeFeed) -> None:
    """R1.1: bounded by files and by bytes; a file larger than the bound is a batch of its own."""
    people = make_feed(max_files=2, max_bytes=30)
    for number, size in enumerate([1, 1, 1, 40, 1]):
        at(people.write(f"{9 - number}.csv", f"id,name\n{number},{'x' * size}\n"), f"0{number}:00")
    outcome = people.land()
    assert (outcome.files, outcome.rows) == (5, 5)
    assert people.rows("id", "_batch_id") == [("0", 1), ("1", 1), ("2", 2), ("3", 3), ("4", 4)]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R1
@pytest.mark.parametrize("policy", ["reland", "ignore", "error"])
def test_a_file_that_changes_in_place(make_feed: MakeFeed, policy: str) -> None:
    """R1.1: it lands again, or it does not, or the landing stops; what happened is recorded."""
    people = make_feed(on_change=policy)
    people.write("a.csv", "id,name\n1,Ada\n")
    people.land()
    people.write("a.csv", "id,name\n1,Eve the second\n")
    if policy == "error":
        with pytest.raises(LandingError, match=r"a\.csv has changed since it was landed"):
            people.land()
        assert people.rows("name") == [("Ada",)]
        return
    outcome = people.land()
    assert (outcome.files, outcome.ignored) == ((1, []) if policy == "reland" else (0, ["a.csv"]))
    assert people.rows("name")[0] == ("Ada",)
    assert people.states()[-1][1] == ("landed" if policy == "reland" else "ignored")
    noted = len(people.states())
    assert people.land().known == 1
    assert len(people.states()) == noted


@pytest.mark.R1
def test_names_are_encoded_as_java_does(spark: SparkSession, people: FeedFolder) -> None:
    """R1.1: rows find their file whatever its name holds; the rules are those of java.net.URI."""
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]
    for name in [*NAMES, "".join(SIGNS)]:
        assert as_uri(f"file:/raw/{name}") == path(f"file:/raw/{name}").toUri().toString()
    for name in NAMES:
        people.write(name, "id,name\n1,Ada\n")
    assert people.land().files == len(NAMES)
    assert len(set(people.rows("_source_file"))) == len(NAMES)


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R1
def test_files_that_hadoop_does_not_list_are_reported(people: FeedFolder) -> None:
    """R1.4: a name with invalid bytes, a broken or circular link: set aside, recorded once."""
    people.write("good.csv", "id,name\n1,Ada\n")
    latin = os.fsencode(people.folder) + b"/latin\xe9.csv"
    os.rename(people.write("latin.csv", "id,name\n2,Bob\n"), latin)
    os.rename(people.write("x/a.csv", "id,name\n3,Cy\n").parent, os.fsencode(people.folder) + b"/d\xe9p")
    for name in ("nothing.csv", "_hidden.csv", "other.txt"):
        (people.folder / name).symlink_to("gone.csv")
    (people.folder / "itself.csv").symlink_to("itself.csv")
    outcome = people.land()
    assert outcome.files == 1
    assert outcome.rejected == {
        "d\\xe9p/a.csv": "cannot be read: its path is not text in UTF-8: rename it",
        "itself.csv": "cannot be read: a link that leads to itself: correct or delete it",
        "latin\\xe9.csv": "cannot be read: its path is not text in UTF-8: rename it",
        "nothing.csv": "cannot be read: a link that leads to nothing: correct or delete it",
    }
    noted = len(people.states())
    assert people.land().rejected == outcome.rejected
    assert len(people.states()) == noted
    os.rename(latin, people.folder / "latin.csv")
    (people.folder / "nothing.csv").unlink()
    people.write("nothing.csv", "id,name\n4,Di\n")
    assert people.land().files == 2
    assert people.rows("id") == [("1",), ("2",), ("4",)]


@pytest.mark.parametrize(
    ("pattern", "path", "chosen"),
    [
        ("*.csv", "a/b/c.csv", True),
        ("*.csv", "c.csv.gz", False),
        ("*.csv", "c.csv\n", False),
        ("a/*.csv", "a/b/c.csv", False),
        ("a/**/*.csv", "a/b/b/c.csv", True),
        ("a/**/*.csv", "a/c.csv", True),
        ("{x,y.z}.csv", "y.z.csv", True),
        ("{x,y.z}.csv", "yAz.csv", False),
        ("[!a]1.csv", "b1.csv", True),
        ("[!a]1.csv", "a1.csv", False),
        ("(1)$.csv", "(1)$.csv", True),
    ],
)
def test_globs(spark: SparkSession, pattern: str, path: str, chosen: bool) -> None:
    """The usual signs, anchored at both ends."""
    regex = regex_of(pattern)
    assert spark.sparkContext._jvm.java.util.regex.Pattern.matches(regex, path) is chosen  # type: ignore[union-attr]
