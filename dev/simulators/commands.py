"""The commands `tidemark simulate …`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

from dev.simulators.change_records import envelope, flat, plain
from dev.simulators.devices import Event, device_days
from dev.simulators.messages import Message
from dev.simulators.operations import Day, Operation
from dev.simulators.shop import MIN_ROWS, shop_days
from dev.simulators.user_events import simulate_user_events
from tidemark.base.connections import Connection
from tidemark.base.connections import connection as connection_of
from tidemark.base.errors import TidemarkError
from tidemark.base.output import output

simulate = typer.Typer(
    name="simulate", no_args_is_help=True, help="Generate data like that of a live system."
)


class Into(StrEnum):
    """The target of a simulated shop."""

    POSTGRESQL = "postgresql"
    KAFKA = "kafka"
    FILES = "files"


class Form(StrEnum):
    """The format of a change in Kafka and in files."""

    FLAT = "flat"
    ENVELOPE = "envelope"


class FleetInto(StrEnum):
    """The target of a fleet's events."""

    KAFKA = "kafka"
    FILES = "files"


Days = Annotated[int, typer.Option(min=1, help="Number of days.")]
Start = Annotated[str, typer.Option(help="First day, yyyy-mm-dd.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same data.")]
Rate = Annotated[
    Optional[int], typer.Option(min=1, help="Changes or events per second (default: as fast as possible).")
]
Folder = Annotated[Optional[Path], typer.Option(help="Folder of the files.")]
Named = Annotated[
    Optional[str],
    typer.Option("--connection", help="Connection name (default: shop for postgresql, stream for kafka)."),
]
Csv = Annotated[bool, typer.Option("--csv", help="Write CSV files instead of JSON lines.")]
Send = Callable[[date, Iterable[Message]], object]


@simulate.command("user-events")
def user_events(
    folder: Annotated[Path, typer.Argument(help="Where to write the files.")],
    days: Annotated[int, typer.Option(min=1, help="Number of daily files.")] = 7,
    rows: Annotated[int, typer.Option(min=1, help="Events per day.")] = 400,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Write daily event files with known numbers of repeats, corrections, late rows and errors."""
    first = _date(start)
    counts = simulate_user_events(folder, start=first, days=days, events_per_day=rows, seed=seed)
    output.text(f"{counts.files} files, {counts.lines} lines in {folder}")


@simulate.command()
def shop(  # noqa: PLR0913  # the options of a command
    *,
    into: Annotated[Into, typer.Option(help="Where to: database tables, topics or daily files.")],
    connection: Named = None,
    folder: Folder = None,
    form: Annotated[
        Form, typer.Option("--format", help="Format of a change in Kafka and files.")
    ] = Form.FLAT,
    csv: Csv = False,
    days: Days = 7,
    rows: Annotated[int, typer.Option(min=MIN_ROWS, help="Approximate number of changes per day.")] = 400,
    rate: Rate = None,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Simulate a web shop: customers, orders and goods are inserted, updated (some late) and deleted."""
    simulated = shop_days(_date(start), days, rows, seed)
    if csv and form is Form.ENVELOPE:
        raise TidemarkError(
            "A record with `before` and `after` cannot be a row of a CSV file.", "Remove --csv."
        )
    way = _Way(into.value, connection, folder, csv, rate)
    if into is not Into.POSTGRESQL:
        send = way.sender("shop.")
        for day in simulated:
            send(day.date, _changes(day.operations, form))
            _print_shop(day, into)
        return
    from dev.simulators.targets import PostgresTarget

    logging.getLogger("psycopg").setLevel(logging.ERROR)  # its warnings repeat the error
    with PostgresTarget(way.connection_of_kind("postgresql", "shop"), rate=rate) as target:
        for day in simulated:
            target.apply(day.operations)
            _print_shop(day, into)


@simulate.command()
def devices(  # noqa: PLR0913  # the options of a command
    *,
    into: Annotated[FleetInto, typer.Option(help="Where to: a topic or daily files.")],
    connection: Named = None,
    folder: Folder = None,
    csv: Csv = False,
    days: Days = 7,
    rows: Annotated[int, typer.Option(min=1, help="Approximate number of events per day.")] = 4800,
    number: Annotated[int, typer.Option("--devices", min=1, help="Number of devices.")] = 50,
    rate: Rate = None,
    start: Start = "2025-01-01",
    seed: Seed = 20250101,
) -> None:
    """Simulate devices that report temperatures; some events are repeated, late or wrongly timed."""
    simulated = device_days(_date(start), days, number, max(1, rows // number), seed)
    send = _Way(into.value, connection, folder, csv, rate).sender("")
    for day in simulated:
        send(day.date, _events(day.events))
        message = f"{day.date}  {len(day.events):,} events into {into.value}"
        output.text(message, "simulated", day=str(day.date), events=len(day.events))


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
                "--folder is required with --into files, and allowed only there.", "Add or remove --folder."
            )
        if self.csv and self.into != "files":
            raise TidemarkError("--csv works only with --into files.", "Remove it.")

    def connection_of_kind(self, kind: str, default: str) -> Connection:
        return connection_of(self.connection or default, kind)

    def sender(self, topic_prefix: str) -> Send:
        """Return the function that sends messages to Kafka or into files."""
        from dev.simulators.targets import FilesTarget, KafkaTarget

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


def _print_shop(day: Day, into: Into) -> None:
    kinds = Counter(operation.kind for operation in day.operations)
    late = day.counts["late_update"] + day.counts["unmoved_update"]
    changed = f"{kinds['update']:,} updates ({late:,} of them late)"
    what = f"{kinds['insert']:,} inserts, {changed}, {kinds['delete']:,} deletes"
    output.text(f"{day.date}  {what} into {into.value}", "simulated", day=str(day.date), **day.counts)
