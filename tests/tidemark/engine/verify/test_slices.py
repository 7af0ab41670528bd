"""Which slices of a table are proved next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.cli.status import proved_text
from tidemark.engine.verify.proofs import OfKeys, Share, share_proved
from tidemark.engine.verify.sides import Columns
from tidemark.engine.verify.slices import (
    SLICES,
    Proved,
    Slice,
    Slices,
    oldest_first,
    ruled_out,
    seconds_of,
    share_of,
    turns,
)

pytestmark = pytest.mark.R2


def test_the_oldest_proof_comes_first() -> None:
    """R2.2: slices that were never proved, then by the time of their proof."""
    proved = {Slice("s.a", number): Proved(100 - number) for number in range(SLICES) if number != 7}
    assert oldest_first("s.a", proved)[:3] == [7, 99, 98]
    assert oldest_first("s.b", proved) == [*range(SLICES)]
    whole = {
        Slice(table, number): Proved(at) for table, at in (("s.a", 5), ("s.c", 4)) for number in range(SLICES)
    }
    assert turns(["s.a", "s.b", "s.c"], whole) == ["s.b", "s.c", "s.a"]


def test_what_was_proved_of_late_is_counted() -> None:
    """R2.2: slices of the last seven days without a difference, and their share of the rows."""
    now = datetime(2026, 11, 28, tzinfo=UTC)
    micros = [int((now - timedelta(days=days)).timestamp() * 1_000_000) for days in (0, 6, 7, 8)]
    proved = {Slice("s.a", number): Proved(at, 30.0) for number, at in enumerate(micros)}
    found = share_proved(["s.a", "s.b"], proved, now)
    assert (found.slices, found.rows, found.of_rows) == ({"s.a": 3, "s.b": 0}, 90, 3000)
    assert (found.percent, found.differing) == (3.0, [])
    wrong = share_proved(["s.a"], proved | {Slice("s.a", 0): Proved(micros[0], 30.0, differs=True)}, now)
    assert (wrong.slices, wrong.rows, wrong.differing) == ({"s.a": 2}, 60, ["s.a"])
    assert share_proved(["s.b"], {}, now).percent == 0
    all_but_one = {Slice("s.a", number): Proved(micros[1 if number else 3], 1.0) for number in range(SLICES)}
    assert share_proved(["s.a"], all_but_one, now).percent == 99.0


def test_a_difference_stays_until_a_later_proof() -> None:
    """R2.2: of the slice, of all slices, or of the changed keys."""
    now = datetime(2026, 11, 28, tzinfo=UTC)

    def differs(keys: OfKeys, slices: dict[int, Proved]) -> bool:
        proved = {Slice("s.a", number): one for number, one in slices.items()}
        return bool(share_proved(["s.a"], proved, now, {"s.a": keys}).differing)

    clean = {number: Proved(50) for number in range(SLICES)}
    assert differs(OfKeys(wrong=10), {})
    assert differs(OfKeys(clean=9, wrong=10), {0: Proved(20)}), "one slice says nothing of the others"
    assert not differs(OfKeys(clean=11, wrong=10), {})
    assert not differs(OfKeys(wrong=10), clean)
    assert differs(OfKeys(wrong=60), clean)
    assert differs(OfKeys(clean=9), {0: Proved(10, differs=True)})
    assert not differs(OfKeys(clean=11), {0: Proved(10, differs=True)})


def test_a_share_is_told_in_words() -> None:
    """R2.2: what it rules out, or what differs."""
    share = Share({"s.a": 98, "s.b": 0}, 982, 1000)
    assert proved_text(share) == (
        "proved within 7 days: 98.2 % of the rows of 1 table; nothing of s.b; "
        "with 95 % probability, fewer than 1 row in 327 differs"
    )
    assert proved_text(replace(share, differing=["s.a"])).endswith("; nothing of s.b"), "it rules out nothing"
    assert (
        proved_text(Share({"s.a": 0}, 0, 0))
        == "proved within 7 days: 0 % of the rows of 0 tables; nothing of s.a"
    )


def test_shares_and_times_are_read() -> None:
    """R2.2: a share is at least one slice."""
    assert [share_of(text) for text in ("1%", "0.2 %", "12.5%", "100%")] == [1, 1, 13, 100]
    assert [seconds_of(text) for text in ("60", "60s", "2m", "1 h")] == [60, 60, 120, 3600]


@pytest.mark.parametrize("text", ["", "0%", "101%", "5", "-1%", "five"])
def test_a_wrong_share_is_named(text: str) -> None:
    """R2.2: with what to write."""
    with pytest.raises(TidemarkError, match=r"Write a percentage, such as 5%\."):
        share_of(text)


@pytest.mark.parametrize("text", ["", "0s", "1d", "-5", "soon"])
def test_a_wrong_time_is_named(text: str) -> None:
    """R2.2: with what to write."""
    with pytest.raises(TidemarkError, match="Write seconds, minutes or hours"):
        seconds_of(text)


def test_words_and_sql() -> None:
    """R2.2: the rule of three."""
    assert ruled_out(3_000).endswith("fewer than 1 row in 1,000 differs")
    assert ruled_out(2) == ""


def test_slices_go_by_columns_that_are_exact() -> None:
    """R2.2: by the key; without one, sums of doubles would tell a row another slice on each side."""
    types = ("string", "double", "struct<a:float>", "int")
    columns = Columns(("Day", "total", "nested", "n"), types, (), (), (), lambda name, _: name)
    assert columns.keys_of(["day"]) == ["__tidemark_0"]
    assert columns.keys_of([]) == ["__tidemark_0", "__tidemark_3"]
    assert Slices([3, 1]).condition(columns, ["n"]) == "pmod(xxhash64(__tidemark_3), 100) in (1, 3)"
    only_sums = Columns(("total",), ("double",), (), (), (), lambda name, _: name)
    assert only_sums.keys_of(["other"]) == ["__tidemark_0"]
