"""One erasure, in steps that can be repeated: a killed erasure is finished by the same command.

First the person is recorded in `ops.erasures`: from then on, no landing brings the rows back. Then the rows
leave the tables, from bronze on, and at last the earlier versions of the tables and their logs. Until those
of bronze are deleted, a repeated erasure reads there which values to search; afterwards it says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_ingest.bronze.history import present_version
from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.erasures import Erasures, Result
from python_ingest.ops.ingested_batches import Batches
from python_ingest.ops.ingested_files import IngestedFiles
from tidemark.base.clock import utc_now
from tidemark.base.errors import DbtError, TidemarkError
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.build import build
from tidemark.lake.table_format import table_exists
from tidemark.maintain.purge import is_prepared, prepare, purge
from tidemark.operate.erasure.landed import Landed
from tidemark.operate.erasure.messages import erase_messages, quoting_runs
from tidemark.operate.erasure.person import Person, Personal, parsed_key, person_of, personal_values
from tidemark.operate.erasure.proof import Proof, prove
from tidemark.operate.erasure.search import search
from tidemark.operate.erasure.tables import (
    Dependent,
    copies,
    delete_rows,
    dependents,
    rows_of,
    unmanaged_tables,
)
from tidemark.operate.erasure.written_files import FolderOfProject, clean, folders_of, own_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

ROUNDS = 3  # of builds until none writes a table
NO_TESTS = ("--exclude-resource-type", "test", "unit_test", "seed")


@dataclass(frozen=True)
class Step:
    """What was done to a table, or would be.

    Attributes:
        table: `schema.name`, or what else the step is about.
        message: what was done, in words.
        rows: the rows of the person.
    """

    table: str
    message: str
    rows: int = 0


@dataclass
class Erasure:
    """The erasure of one person.

    Attributes:
        spark: the session.
        project: the project.
        person: the person.
        erasures: the table `ops.erasures`.
        proof: the proof, after `run`.
        personal: the values that it searches in files.
    """

    spark: SparkSession
    project: Project
    person: Person
    erasures: Erasures
    proof: Proof = field(default_factory=Proof)
    personal: Personal = field(default_factory=Personal)

    def __post_init__(self) -> None:
        self.landed = Landed(self.spark, self.person, self.project.ops_schema)
        self._runs = f"{self.project.ops_schema}.runs"
        self._counts: dict[str, int] = {}

    def plan(self) -> Iterator[Step]:
        """Yield for each table what `run` would do; nothing is changed."""
        self._look_up()
        rows, records = self.landed.rows().count(), self.landed.records()
        yield Step(self.landed.bronze, "content of the rows removed, their places stay", rows)
        if records is not None:
            message = "content of the rejected records removed"
            yield Step(self.landed.rejected, message, records.count())
        if (marks := self.landed.marks()) is not None:
            yield Step(self.landed.batches, "keys removed from the marks", marks.count())
        for one in self._dependents():
            yield Step(one.table, one.planned, rows_of(self.spark, self.person, one))
        for table, message in self._copies().items():
            yield Step(table, message, self.spark.table(table).count())
        if (quoting := self._quoting_runs()) is not None:
            yield Step(self._runs, "messages and variables that quote the person removed", quoting.count())
        yield from self._clean(is_plan=True)

    def run(self) -> Iterator[Step]:
        """Erase the person; yield each step that is done.

        Raises:
            DbtError: if a model fails.
            TidemarkError: if a model has not read what must be deleted.
        """
        is_started = self._look_up()
        if not is_started:
            self.erasures.record(self.person.erased, "started", utc_now())
        yield Step(f"{self.project.ops_schema}.erasures", "recorded: the rows will not land again")
        yield from self._remove_rows()
        yield from self._purge()
        yield from self._erase_messages(is_started=is_started)
        yield from self._clean()
        self.proof = self._prove()
        self._counts[self.landed.bronze] = self.landed.erased().count()  # also those of a killed attempt
        result = Result(self._counts, len(self.proof.hits), self.proof.files)
        self.erasures.record(self.person.erased, "finished", utc_now(), result)

    def _remove_rows(self) -> Iterator[Step]:
        records = self.landed.erase_records()
        if table_exists(self.spark, self.landed.rejected):
            yield self._done(self.landed.rejected, "erased", records)
        if isinstance(self.person.feed, TableFeed):
            yield self._done(self.landed.batches, "erased: keys of marks", self.landed.erase_marks())
        yield self._done(self.landed.bronze, "erased", self.landed.erase_rows())
        self._settle()
        for table, message in self._copies().items():
            self.spark.sql(f"drop table {table} purge")
            yield Step(table, message)
        for one in self._dependents():
            if one.keeps:
                yield self._done(one.table, "deleted", delete_rows(self.spark, self.person, one))
        before = {one.table: rows_of(self.spark, self.person, one) for one in self._dependents()}
        self._build()
        left = []
        for one in self._dependents():
            if one.keeps:
                continue
            rows = delete_rows(self.spark, self.person, one, as_run=True)
            left += [one.table] * (rows > 0)
            yield self._done(one.table, "deleted" if rows else "built without them", before.get(one.table, 0))
        if left:
            self._build()  # for the models that read them

    def _purge(self) -> Iterator[Step]:
        """Delete earlier versions, once all checkpoints are at versions without a trace of rows."""
        tables = [one.table for one in self._dependents()]
        if table_exists(self.spark, self.landed.rejected):
            tables.append(self.landed.rejected)
        if isinstance(self.person.feed, TableFeed):
            tables.append(self.landed.batches)
        tables.append(self.landed.bronze)
        erasure_id = self.person.erased.erasure_id
        versions: dict[str, int] = {}
        for _ in range(ROUNDS):
            for table in tables:
                if table not in versions or not is_prepared(self.spark, table, versions[table]):
                    versions[table] = prepare(self.spark, table, self._readers(table), erasure_id)
            self._build()
            if all(is_prepared(self.spark, table, versions[table]) for table in tables):
                break
        else:
            raise TidemarkError(
                "Models write their tables again in each run, so that earlier versions cannot be deleted.",
                "Models that use the clock or random values do that: docs/static_checks.md.",
            )
        for table in tables:
            number = purge(self.spark, table, self._readers(table))
            yield Step(table, f"earlier versions deleted, {number:,} files of logs")
        self._settle()

    def _erase_messages(self, *, is_started: bool) -> Iterator[Step]:
        """Erase messages of runs that quote the person, and the earlier versions of their table."""
        runs = self._runs
        number = erase_messages(self._quoting_runs(), runs)
        if number or (is_started and table_exists(self.spark, runs)):
            prepare(self.spark, runs, self._readers(runs), self.person.erased.erasure_id)
            purge(self.spark, runs, self._readers(runs))
            yield self._done(runs, "have messages and variables without the values", number)

    def _readers(self, table: str) -> dict[str, int]:
        """Return the version up to which each model has read a table."""
        return State(self.spark, self.project.ops_schema).versions_read().get(table, {})

    def _look_up(self) -> bool:
        """Find the values to search; return whether this erasure was begun before."""
        is_started = any(one.hashes == self.person.erased.hashes for one in self.erasures.erased())
        self.personal = personal_values(self.spark, self.person, is_started=is_started)
        return is_started

    def _quoting_runs(self) -> DataFrame | None:
        return quoting_runs(self.spark, self.person, self.personal.texts(self.person), self._runs)

    def _prove(self) -> Proof:
        others = unmanaged_tables(self.spark, self.project, self.person)
        return prove(self.landed, self.personal, self._dependents(), others, self._folders())

    def _build(self) -> None:
        """Run the models and snapshots that depend on the feed, and have been built before."""
        selected = [one.node for one in self._dependents()]
        if not selected:
            return
        built = build([*NO_TESTS, "--select", *selected], lambda _: None, self.project.manifest)
        if built.failed:
            name, message = built.failed[0]
            raise DbtError(
                f"{name} failed: {message}",
                "Fix it and run the same command again, which continues. The rows do not land again.",
            )

    def _settle(self) -> None:
        """Record that bronze has all landed rows, so that the next landing does not have to count them."""
        feed, schema = self.person.feed, self.project.ops_schema
        landings = (
            IngestedFiles(self.spark, schema, feed.name)
            if isinstance(feed, FileFeed)
            else Batches(self.spark, schema, feed.name, feed.external.source)
        )
        bronze, checks = BronzeTable(self.spark, feed), BronzeChecks(self.spark, schema, feed.name)
        lost_rows = LostRows(self.spark, feed, bronze, landings, checks)
        if doubt := lost_rows.doubt():
            lost_rows.record(lost_rows.settle(doubt), utc_now())

    def _copies(self) -> dict[str, str]:
        return copies(self.spark, self.project, self.person)

    def _clean(self, *, is_plan: bool = False) -> Iterator[Step]:
        """Take the values out of what dbt and Tidemark have written in the project's folder."""
        for folder in self._folders():
            if message := clean(folder, self.personal.texts_of_project(self.person), is_plan=is_plan):
                yield Step(f"folder {folder.name}", message)

    def examples(self) -> list[str]:
        """Return the files of the project, such as unit tests, that have a value of the person."""
        found = search(".", own_files(self.project), self.personal.texts(self.person))
        return [hit.removeprefix("./").partition(" (")[0] for hit in found.hits]

    def _folders(self) -> list[FolderOfProject]:
        return folders_of(self.project.root)

    def _dependents(self) -> Sequence[Dependent]:
        return dependents(self.spark, self.project, self.person)

    def _done(self, table: str, message: str, rows: int) -> Step:
        self._counts[table] = self._counts.get(table, 0) + rows
        return Step(table, message, rows)


def erasure_of(spark: SparkSession, project: Project, feed: Feed, texts: Sequence[str]) -> Erasure:
    """Return the erasure of a person, after checking what it needs.

    Args:
        spark: the session.
        project: the project.
        feed: the feed.
        texts: the key, each as `column=value`.

    Raises:
        TidemarkError: if the feed or the key does not allow it, or the secret is missing.
    """
    key = parsed_key(texts, feed)
    if not table_exists(spark, feed.table):
        raise TidemarkError(f"{feed.table} does not exist yet.", f"Run `tidemark land {feed.name}` first.")
    erasures = Erasures(spark, project.ops_schema, feed.name)
    version = present_version(spark, feed.table)
    return Erasure(spark, project, person_of(spark, feed, key, erasures, version), erasures)
