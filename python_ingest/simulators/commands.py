"""The commands `tidemark simulate …`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from python_ingest.connections import Connection
from python_ingest.connections import connection as connection_of
from python_ingest.errors import TidemarkError
from python_ingest.output import output
from python_ingest.simulators.change_records import envelope, flat, plain
from python_ingest.simulators.devices import Event, device_days
from python_ingest.simulators.messages import Message
from python_ingest.simulators.operations import Day, Operation
from python_ingest.simulators.shop import MIN_ROWS, shop_days
from python_ingest.simulators.user_events import simulate_user_events

simulate = typer.Typer(no_args_is_help=True, help="Make data as a live system would.")


class Into(str, Enum):
    """Where a simulation goes."""

    POSTGRESQL = "postgresql"
    KAFKA = "kafka"
    FILES = "files"


class Form(str, Enum):
    """How a change is told in Kafka and in files."""

    FLAT = "flat"
    ENVELOPE = "envelope"


class FleetInto(str, Enum):
    """Where a fleet's events go."""

    KAFKA = "kafka"
    FILES = "files"


Days = Annotated[int, typer.Option(min=1, help="Number of days.")]
Start = Annotated[str, typer.Option(help="First day, yyyy-mm-dd.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same data.")]
Rate = Annotated[
    Optional[int], typer.Option(min=1, help="How many a second; as fast as can be if not given.")
]
Folder = Annotated[Optional[Path], typer.Option(help="Where the files go.")]
Named = Annotated[
    Optional[str], typer.Option("--connection", help="By default shop (postgresql), stream (kafka).")
]
Csv = Annotated[bool, typer.Option("--csv", help="The files are CSV instead of JSON lines.")]
Send = Callable[[date, Iterable[Message]], object]


@simulate.command("user-events")
def user_events(
    folder: Annotated[Path, typer.Argument(help="Where to write the files.")],
    days: Annotated[int, typer.Option(min=1, help="Number of daily files.")] = 7,
    rows: Annotated[int, typer.Option(min=1, help="Events a day.")] = 400,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Write daily event files with repeats, corrections, late rows and errors in known numbers."""
    first = _date(start)
    counts = simulate_user_events(folder, start=first, days=days, events_per_day=rows, seed=seed)
    output.text(f"{counts.files} files, {counts.lines} lines in {folder}")


@simulate.command()
def shop(  # noqa: PLR0913  # the options of a command
    *,
    into: Annotated[Into, typer.Option(help="Tables of a database, topics, or daily files.")],
    connection: Named = None,
    folder: Folder = None,
    form: Annotated[Form, typer.Option("--format", help="How Kafka and files tell a change.")] = Form.FLAT,
    csv: Csv = False,
    days: Days = 7,
    rows: Annotated[int, typer.Option(min=MIN_ROWS, help="About how many changes a day.")] = 400,
    rate: Rate = None,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Run a web shop: customers and orders come, change (some late) and go, goods move."""
    simulated = shop_days(_date(start), days, rows, seed)
    if csv and form is Form.ENVELOPE:
        raise TidemarkError("A record with `before` and `after` is no row of a CSV file.", "Leave out --csv.")
    way = _Way(into.value, connection, folder, csv, rate)
    if into is not Into.POSTGRESQL:
        send = way.sender("shop.")
        for day in simulated:
            send(day.date, _changes(day.operations, form))
            _tell_shop(day, into)
        return
    from python_ingest.simulators.targets import PostgresTarget

    logging.getLogger("psycopg").setLevel(logging.ERROR)  # its warnings repeat the error
    with PostgresTarget(way.connection_of_kind("postgresql", "shop"), rate=rate) as target:
        for day in simulated:
            target.apply(day.operations)
            _tell_shop(day, into)


@simulate.command()
def devices(  # noqa: PLR0913  # the options of a command
    *,
    into: Annotated[FleetInto, typer.Option(help="A topic, or daily files.")],
    connection: Named = None,
    folder: Folder = None,
    csv: Csv = False,
    days: Days = 7,
    rows: Annotated[int, typer.Option(min=1, help="About how many events a day.")] = 4800,
    number: Annotated[int, typer.Option("--devices", min=1, help="Number of devices.")] = 50,
    rate: Rate = None,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Run a fleet of devices that report temperatures: some twice, late, or by a wrong clock."""
    simulated = device_days(_date(start), days, number, max(1, rows // number), seed)
    send = _Way(into.value, connection, folder, csv, rate).sender("")
    for day in simulated:
        send(day.date, _events(day.events))
        said = f"{day.date}  {len(day.events):,} events into {into.value}"
        output.text(said, "simulated", day=str(day.date), events=len(day.events))


@dataclass(frozen=True)
class _Way:
    into: str
    connection: str | None
    folder: Path | None
    csv: bool
    rate: int | None

    def __post_init__(self) -> None:
        if (self.folder is None) == (self.into == "files"):
            raise TidemarkError(
                "--into files needs --folder, and only it takes one.", "Say where the files go."
            )
        if self.csv and self.into != "files":
            raise TidemarkError("--csv is for --into files.", "Leave it out.")

    def connection_of_kind(self, kind: str, default: str) -> Connection:
        return connection_of(self.connection or default, kind)

    def sender(self, topic_prefix: str) -> Send:
        """How messages go to Kafka or into files."""
        from python_ingest.simulators.targets import FilesTarget, KafkaTarget

        if self.folder is not None:
            return FilesTarget(self.folder, as_csv=self.csv).write
        broker = KafkaTarget(self.connection_of_kind("kafka", "stream"), topic_prefix, self.rate)
        return lambda _, messages: broker.send(messages)


def _changes(operations: Iterable[Operation], form: Form) -> Iterator[Message]:
    for one in operations:
        record = flat(one) if form is Form.FLAT else envelope(one, one.before)
        yield Message(one.table, str(one.key), record)


def _events(events: Iterable[Event]) -> Iterator[Message]:
    for event in events:
        yield Message("device_events", event["device_id"], plain(event))


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise TidemarkError(f"--start {text!r} is not a date.", "Write it as 2025-01-31.") from None


def _tell_shop(day: Day, into: Into) -> None:
    kinds = Counter(operation.kind for operation in day.operations)
    late = day.counts["late_update"] + day.counts["unmoved_update"]
    changed = f"{kinds['update']:,} updates ({late:,} of them late)"
    what = f"{kinds['insert']:,} inserts, {changed}, {kinds['delete']:,} deletes"
    output.text(f"{day.date}  {what} into {into.value}", "simulated", day=str(day.date), **day.counts)
