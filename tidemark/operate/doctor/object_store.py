"""Can Spark reach an object store: the jar, the keys, the endpoint, the buckets?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from tidemark.lake.place import lake_location
from tidemark.operate.doctor.finding import Checked, Finding, error, skipped, warning
from tidemark.operate.doctor.network import ask
from tidemark.operate.doctor.secrets import redacted
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import FOLDER

KEY, SECRET, REGION, ENDPOINT = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_REGION",
    "AWS_ENDPOINT_URL_S3",
)
S3A = "spark.hadoop.fs.s3a."
JAR = "hadoop-aws"
MISSING = 404


def check_object_store(subject: Subject) -> Checked:
    """Check what Spark needs for the buckets of the lake and of the feeds."""
    places = [lake_location(), os.environ.get("TIDEMARK_RAW", ""), *subject.locations]
    buckets = sorted(
        {urlsplit(place).netloc.rpartition("@")[2] for place in places if place.startswith("s3a://")}
    )
    others = sorted({place.partition("://")[0] for place in places if "://" in place} - {"s3a", "file"})
    if not buckets:
        return skipped(f"not looked at: {', '.join(others)}" if others else "no s3a:// location")
    region = subject.settings.get(f"{S3A}endpoint.region") or os.environ.get(REGION, "")
    endpoint = subject.settings.get(f"{S3A}endpoint") or os.environ.get(ENDPOINT, "")
    url = endpoint or f"https://s3.{region or 'us-east-1'}.amazonaws.com"
    url = redacted(url if "://" in url else f"https://{url}")  # a request needs no password
    findings = [*_jar(subject), *_keys(subject.settings), *_region(region), *_answers(url, buckets)]
    return Checked(f"{', '.join(buckets)} at {url}", tuple(findings))


def _jar(subject: Subject) -> Iterator[Finding]:
    named = subject.settings.get("spark.jars.packages", "") + subject.settings.get("spark.jars", "")
    is_there = JAR in named or any(Path(FOLDER).glob(f"{JAR}-*.jar"))
    if subject.has_own_spark and Path(FOLDER).is_dir() and not is_there:  # else check_jars reports it
        fix = "Run `python -m tidemark.spark.jars` in the project's folder, which fetches it."
        yield error(f"Spark cannot read s3a://: {FOLDER}/ has no {JAR}-….jar.", fix)


def _keys(settings: Mapping[str, str]) -> Iterator[Finding]:
    has = {name: bool(os.environ.get(name)) for name in (KEY, SECRET)}
    if has[KEY] != has[SECRET]:
        missing = SECRET if has[KEY] else KEY
        yield error(f"{missing} is not set, but the other half of the key is.", f"Set {missing}, too.")
    elif not has[KEY] and not any(name.startswith(S3A) and "key" in name for name in settings):
        message = f"{KEY} and {SECRET} are not set. Spark then needs the role of a machine in the cloud."
        yield warning(message, "Set both, unless this machine has such a role.")


def _region(region: str) -> Iterator[Finding]:
    if not region:
        other = os.environ.get("AWS_DEFAULT_REGION")
        fix = f"Set {REGION}{f' to {other}, as AWS_DEFAULT_REGION is' if other else ', such as us-east-1'}."
        yield warning(f"{REGION} is not set.", fix)


def _answers(url: str, buckets: list[str]) -> Iterator[Finding]:
    first = ask(url)
    if not first.status:
        fix = f"Correct {ENDPOINT} (a URL such as http://127.0.0.1:9000), or check the network."
        yield error(f"The object store does not answer at {url}: {first.message}.", fix)
        return
    for bucket in buckets:
        if ask(f"{url}/{bucket}").status == MISSING:
            fix = "Create it, or correct the location (TIDEMARK_LAKE, TIDEMARK_RAW, or that of a feed)."
            yield error(f"There is no bucket {bucket} at {url}.", fix)
