"""The days of a lake, in a process that a test starts, and that is killed on some days.

Started in the project's folder as `python -m tests.month.life DIARY DAYS`. The diary holds the next day, so
that a process which was killed is followed by one that goes on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from python_ingest.bronze.table import BronzeTable
from tests import many_commands
from tests.kills.killed_run import plant
from tests.kills.points import POINTS
from tests.month.people import CITIES, ERASED, Feed, Person, email_of
from tidemark.base.errors import TidemarkError
from tidemark.cli.erase import erase
from tidemark.cli.maintain import maintain
from tidemark.cli.run import run
from tidemark.cli.undo import undo
from tidemark.engine.verify.verify import verify

MODELS = Path("models")
BY_CITY = MODELS / "gold/people_by_city.sql"
TABLES = ("silver.people", "bronze.people", "gold.people_by_city", "ops.runs", "gold.people_kept")
KILLS = (
    "after the silver merge, before its checkpoint",
    "in on-run-end, writing the checkpoints",
    "half written",
    "written but not confirmed",
)


class Month:
    """A lake and its feed.

    Args:
        diary: the file that tells what happened.
        lake: the lake's folder, on a small file system or not.
        raw: the feed's folder.
        small: whether the lake's disk may be filled.
    """

    def __init__(self, diary: Path, lake: Path, raw: Path, *, small: bool) -> None:
        self._diary, self._lake, self._small = diary, lake, small
        self._feed = Feed(raw)
        self._notes: dict[str, Any] = (
            json.loads(diary.read_text()) if diary.exists() else {"day": 1, "errors": []}
        )

    def live(self, days: int) -> None:
        """Live the days that are left."""
        events = (self.plain, self.broken, self.killed, self.full, self.audited, self.changed, self.erased)
        for day in range(1, days + 1):
            event = events[(day - 1) % len(events)]
            is_past = day < self._notes["day"]
            event(day, is_past=is_past)
            if not is_past:
                self._night(day)
                self._note(day=day + 1)

    def _night(self, day: int) -> None:
        """Maintain a table; a version that a model has read stays until it has read the compacted one."""
        try:
            maintain([TABLES[day % len(TABLES)]], hours=0)
        except TidemarkError as error:
            if "have not been read yet" not in str(error):
                raise

    def plain(self, day: int, *, is_past: bool) -> None:
        self._feed.send(day)
        if not is_past:
            run()

    def broken(self, day: int, *, is_past: bool) -> None:
        """A line that cannot be read is set aside."""
        self._feed.send(day, broken=True)
        if not is_past:
            run()

    def killed(self, day: int, *, is_past: bool) -> None:
        """The process is killed once; the next one runs again."""
        self._feed.send(day)
        if is_past:
            return
        if self._notes.get("killed") != day:
            self._note(killed=day)
            name = KILLS[day // 7 % len(KILLS)]
            plant(next(point for point in POINTS if point.name == name), self._diary.with_name("reached"))
            run()
            sys.exit(f"not killed: {name}")
        run()

    def full(self, day: int, *, is_past: bool) -> None:
        """The disk is full while a batch is written; with space, the same command finishes it."""
        self._feed.send(day)
        if is_past:
            return
        if self._small:
            with self._no_space():
                self._fails(run, "is full")
        run()

    def audited(self, day: int, *, is_past: bool) -> None:
        """A batch without an address is not written; a correction comes."""
        self._feed.send(day)
        nobody = 10 * day + 5
        when = f"2025-01-{day:02}"
        self._feed.send(day, "_bad", [(nobody, "", "Breda", f"{when} 11:00:00")])
        if not is_past:
            self._fails(lambda: run(audit=True), "dbt nodes failed")
        correction: list[Person] = [(nobody, email_of(nobody), "Breda", f"{when} 12:00:00")]
        self._feed.send(day, "_corrected", correction)
        if not is_past:
            run(audit=True)

    def changed(self, day: int, *, is_past: bool) -> None:
        """A wrong version of a model is undone; a feed gets a column, and late rows come."""
        self._feed.send(day)
        moved: list[Person] = [(11, email_of(11), CITIES[day % 3], f"2025-01-{day:02} 23:00:00")]
        self._feed.send(day, "_late", moved)
        if is_past:
            return
        right = BY_CITY.read_text(encoding="utf-8")
        BY_CITY.write_text(right.replace("count(*)", "count(*) + 1"), encoding="utf-8")
        run()
        undo("last")
        BY_CITY.write_text(right.replace("from {{", f"-- since day {day}\nfrom {{{{"), encoding="utf-8")
        newer = self._feed.folder / f"people_{day:02}_wider.csv"
        newer.write_text(f"person_id,email,city,updated_at,phone_{day}\n", encoding="utf-8")
        run()

    def erased(self, day: int, *, is_past: bool) -> None:
        """A person is erased, and comes again with the next file that has her."""
        self._feed.send(day)
        if is_past:
            return
        run()
        erase("people", [f"person_id={ERASED['person_id']}"])

    def end(self) -> None:
        """Merge small files, let the models see that, delete what is old, and tell what is there."""
        maintain(list(TABLES))
        run()
        maintain(hours=0, log_hours=0)
        spark = SparkSession.builder.getOrCreate()
        tables = {
            name: [list(row) for row in spark.table(name).selectExpr(*columns).collect()]
            for name, columns in {
                "silver.people": ["person_id", "email", "city"],
                "gold.people_kept": ["person_id", "email"],
                "gold.people_by_city": ["city", "people"],
            }.items()
        }
        landed = "max_by(row_count, _sequence) as rows from ops.ingested_files group by path"
        balance: Any = spark.sql(
            f"select (select sum(rows) from (select {landed})), count(*), count_if(_corrupt_record is null), "
            "count_if(_corrupt_reason = 'erased') from bronze.people"
        ).first()
        verdicts = {verdict.table: verdict.unproven or verdict.differing for verdict in verify(spark, [])}
        self._note(tables=tables, balance=list(balance), verdicts=verdicts, broken=self._feed.broken)

    def _note(self, **facts: Any) -> None:
        self._notes |= facts
        self._diary.write_text(json.dumps(self._notes), encoding="utf-8")

    def _fails(self, command: Callable[[], None], sentence: str) -> None:
        try:
            command()
        except TidemarkError as error:
            if sentence not in str(error):
                raise
            self._note(errors=[*self._notes["errors"], str(error)])
        else:
            raise AssertionError(f"no error, but should be: {sentence}")

    @contextmanager
    def _no_space(self) -> Iterator[None]:
        """Fill the disk when a batch is about to be written."""
        ballast, append = self._lake.with_name("ballast"), BronzeTable.append

        def filled(*arguments: Any, **options: Any) -> Any:
            with ballast.open("wb", buffering=0) as file:
                try:
                    while file.write(b"\0" * 2**16):
                        pass
                except OSError:
                    pass
            return append(*arguments, **options)

        BronzeTable.append = filled  # type: ignore[method-assign]
        try:
            yield
        finally:
            BronzeTable.append = append  # type: ignore[method-assign]
            ballast.unlink()


def main() -> None:
    """Live, and tell."""
    many_commands.prepare()
    diary, days = Path(sys.argv[1]), int(sys.argv[2])
    lake, raw = Path(os.environ["TIDEMARK_LAKE"]), Path(os.environ["TIDEMARK_RAW"])
    month = Month(diary, lake, raw, small=os.path.ismount(lake.parent))
    month.live(days)
    month.end()


if __name__ == "__main__":
    main()
