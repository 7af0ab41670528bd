"""Simulated messages in files."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from dev.simulators.change_records import Record
from dev.simulators.messages import Message, as_json
from tidemark.base.errors import TidemarkError


class FilesTarget:
    """Daily files, with one folder per name: `orders/orders_2025-01-01.json`.

    Args:
        folder: the parent folder; missing folders are created.
        as_csv: whether to write CSV with a header instead of JSON lines; NULL is an empty field.
    """

    def __init__(self, folder: Path, *, as_csv: bool = False) -> None:
        self.folder = folder
        self.as_csv = as_csv

    def write(self, day: date, messages: Iterable[Message]) -> list[Path]:
        """Write a day's records atomically, each file in place of an older one, and return the files."""
        records: dict[str, list[Record]] = defaultdict(list)
        for message in messages:
            records[message.name].append(message.record)
        return [self._write(name, day, of_name) for name, of_name in records.items()]

    def _write(self, name: str, day: date, records: list[Record]) -> Path:
        text = _csv(records) if self.as_csv else "".join(f"{as_json(record)}\n" for record in records)
        path = self.folder / name / f"{name}_{day}.{'csv' if self.as_csv else 'json'}"
        unfinished = path.with_name(f".{path.name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(text.encode())
            return unfinished.replace(path)
        except OSError as error:
            raise TidemarkError(
                f"{path} cannot be written: {error.strerror}.", "Choose another --folder."
            ) from None


def _csv(records: list[Record]) -> str:
    columns = dict.fromkeys(name for record in records for name in record)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
