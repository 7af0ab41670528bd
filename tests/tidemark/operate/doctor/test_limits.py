"""Limits of the machine, and its file system."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.tidemark.operate.doctor.conftest import messages_of
from tidemark.operate.doctor.file_system import check_file_system, mounted
from tidemark.operate.doctor.finding import Level
from tidemark.operate.doctor.limits import check_limits
from tidemark.operate.doctor.subject import Subject


def test_names_of_files_in_another_encoding(here: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java asks the locale, also where Python does not."""
    monkeypatch.setenv("LC_ALL", "C")
    text = messages_of(check_file_system(here), Level.WARNING)
    assert "Java reads file names in" in text
    assert "because of LC_ALL=C: " in text


def test_a_network_mount() -> None:
    """The longest mount point above the lake counts; blanks in it are written as numbers."""
    mounts = (
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "40 22 0:50 / /mnt/our\\040lake rw shared:1 - nfs4 server:/lake rw\n"
        "41 22 0:51 / /mnt/our rw - xfs /dev/sdb rw\n"
    )
    assert mounted(Path("/mnt/our lake/tables"), mounts) == "nfs4"
    assert mounted(Path("/mnt/our/lake"), mounts) == "xfs"
    assert mounted(Path("/srv"), mounts) == "ext4"


def test_few_open_files(here: Subject) -> None:
    """The limit of this process is lowered for the test."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        assert "limit is 512 open files" in messages_of(check_limits(here), Level.WARNING)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("9999g", "Spark may use 9999g, but this machine has"),
        ("two", "is 'two', which is not a valid size"),
        ("100m", "start"),
    ],
)
def test_memory_that_is_not_there(
    here: Subject, monkeypatch: pytest.MonkeyPatch, wanted: str, says: str
) -> None:
    """More than the machine has, no number, and less than Spark starts with."""
    monkeypatch.setenv("TIDEMARK_DRIVER_MEMORY", wanted)
    assert says in messages_of(check_limits(here), Level.ERROR)
