"""Random feeds as strangers send them: two deliveries of files, and the records that they hold.

The records are known before they are written, so no reader is needed to tell what a file holds.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

DAYS = {  # how a date may be written, with what only shows day and month in their places
    "yyyy-MM-dd": "%Y-%m-%d",
    "M/d/yyyy": "%m/%d/%Y",
    "d.M.yyyy": "%d.%m.%Y",
    "yyyyMMdd": "%Y%m%d",
    "yyyy/MM/dd": "%Y/%m/%d",
}
TIMES = {
    "iso": "%Y-%m-%dT%H:%M:%S",
    "blank": "%Y-%m-%d %H:%M:%S",
    "utc": "%Y-%m-%dT%H:%M:%SZ",
    "offset": None,
}
WORDS = {
    "utf-8": ("Zoë", "日本", "naïve", "Łódź", "plain", "a b", "it's"),
    "utf-8-sig": ("Zoë", "日本", "plain", "a b"),
    "utf-16": ("Zoë", "日本", "plain"),
    "windows-1252": ("Zoë", "Müller", "Café", "plain", "garçon"),
    "windows-1251": ("Москва", "Казань", "Омск", "Россия", "улица"),
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
Record = dict[str, tuple[str, Any]]


@dataclass
class StrangeFeed:
    """A feed of random files.

    Attributes:
        name: the folder's name.
        first: the files of the sample, by name.
        later: the files of the second delivery.
        records: each record as (text in the file, value) by column; the key `id` is unique.
        traits: what is strange about it, for messages.
        answers: arguments of `tidemark add` that answer what it may ask.
    """

    name: str
    first: dict[str, bytes] = field(default_factory=dict)
    later: dict[str, bytes] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    traits: dict[str, Any] = field(default_factory=dict)


def strange_feed(number: int) -> StrangeFeed:
    """Return the feed of a number; the same one each time.

    Args:
        number: the seed.
    """
    rng = random.Random(number)
    feed = StrangeFeed(f"strange_{number}")
    is_json = rng.random() < 0.25
    traits = feed.traits
    traits["shape"] = rng.choice(["lines", "array", "pretty", "array of lines"]) if is_json else "csv"
    traits["encoding"] = "utf-8" if is_json else rng.choice(["utf-8"] * 4 + list(WORDS))
    traits["packed"] = rng.choice(["", "", "", *PACKERS, ".zip"])
    makers = _columns(rng, traits, is_json)
    count = rng.randrange(3, 40)
    for part, name in ((feed.first, "one"), (feed.later, "two")):
        start = len(feed.records)
        records = [
            {"id": (str(start + n + 1), start + n + 1)}
            | {column: make(rng) for column, make in makers.items()}
            for n in range(count if name == "one" else 5)
        ]
        if name == "one" and not is_json:
            _give_away(records, traits)
        feed.records += records
        write = _json_text if is_json else _csv_text
        content = write(records, rng if name == "one" else random.Random(number + 1), traits).encode(
            traits["encoding"]
        )
        suffix = ("jsonl" if traits["shape"] == "lines" else "json") if is_json else "csv"
        part.update(_packed(f"{name}.{suffix}", content, traits["packed"]))
    return feed


def _columns(rng: random.Random, traits: dict[str, Any], is_json: bool) -> dict[str, Callable[..., Any]]:
    """Return a maker of values for each column: pairs of the text and the value."""
    words = WORDS[traits["encoding"]]
    makers: dict[str, Callable[..., Any]] = {"label": lambda r: _same(r.choice(words))}
    if rng.random() < 0.5:
        traits["places"] = rng.choice([1, 2, 3])
        traits["number"] = (
            "plain" if is_json else rng.choice(["plain", "plain", "comma", "grouped", "currency"])
        )
        makers["price"] = lambda r: _price(r, traits)
    if rng.random() < 0.5:
        traits["day"] = rng.choice(list(DAYS)) if not is_json else "yyyy-MM-dd"
        makers["sold_on"] = lambda r: _day(r, traits["day"])
    if rng.random() < 0.4:
        traits["time"] = rng.choice(list(TIMES))
        makers["seen_at"] = lambda r: _time(r, traits["time"])
    if rng.random() < 0.4:
        traits["code"] = True
        makers["zip"] = lambda r: _same(f"{r.randrange(100_000):0{r.choice([4, 5])}d}")
    if rng.random() < 0.3:
        makers["note"] = lambda r: _same(
            r.choice(["x", 'say "hi"', "a, b", "semi;colon", "tab\there", "two\nlines"])
        )
    return makers


def _same(text: str) -> tuple[str, str]:
    return text, text


def _price(rng: random.Random, traits: dict[str, Any]) -> tuple[str, Decimal]:
    value = Decimal(rng.randrange(1, 10**7)).scaleb(-traits["places"])
    plain = f"{value:f}"
    kind = traits["number"]
    if kind == "comma":
        return plain.replace(".", ","), value
    if kind == "grouped":
        return f"{value:,f}", value
    return (f"${plain}" if kind == "currency" else plain), value


def _day(rng: random.Random, of: str) -> tuple[str, date]:
    value = date(2023, 1, 1) + timedelta(days=rng.randrange(700))
    return value.strftime(DAYS[of]), value


def _time(rng: random.Random, of: str) -> tuple[str, datetime]:
    value = datetime(2023, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(60_000_000))
    if of == "offset":
        hours = rng.choice([-5, 0, 2])
        local = value.astimezone(timezone(timedelta(hours=hours)))
        return local.isoformat(), value.replace(tzinfo=None)
    return value.strftime(str(TIMES[of])), value.replace(tzinfo=None)


def _give_away(records: Sequence[Record], traits: dict[str, Any]) -> None:
    """Let one date of the sample prove which part is the day, and one number which sign is which."""
    if "sold_on" in records[0] and traits["day"] in DAYS:
        value = date(2023, 1, 31)
        records[0]["sold_on"] = (value.strftime(DAYS[traits["day"]]), value)


def _csv_text(records: Sequence[Record], rng: random.Random, traits: dict[str, Any]) -> str:
    delimiter = traits.setdefault("delimiter", rng.choice(",,;\t|"))
    end = traits.setdefault("end", rng.choice(["\n", "\n", "\r\n", "\r"]))
    quoting = traits.setdefault("quoting", rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    padding = traits.setdefault(
        "padding", rng.choice(["", "", "", " "]) if quoting == csv.QUOTE_MINIMAL else ""
    )
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(list(records[0]))
    for record in records:
        texts = [text for text, _ in record.values()]
        if end == "\r":  # a line break inside a value is another one than the end of a line
            texts = [text.replace("\n", " ") for text in texts]
            for column, text in zip(record, texts, strict=True):
                record[column] = (text, text if isinstance(record[column][1], str) else record[column][1])
        writer.writerow([f"{padding}{text}" if text.isalnum() else text for text in texts])
    preamble = traits.setdefault("preamble", rng.choice([0, 0, 0, 0, 2]))
    return "".join(f"Report of sales {n}{end}" for n in range(preamble)) + stream.getvalue()


def _json_text(records: Sequence[Record], rng: random.Random, traits: dict[str, Any]) -> str:
    objects = [{column: _json_value(value) for column, value in record.items()} for record in records]
    shape = traits["shape"]
    if shape == "lines":
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)
    if shape == "array":
        return json.dumps(objects)
    if shape == "pretty":
        return json.dumps(objects, indent=2)
    return "[\n" + ",\n".join(json.dumps(one) for one in objects) + "\n]\n"


def _json_value(pair: tuple[str, Any]) -> Any:
    text, value = pair
    return float(text) if isinstance(value, Decimal) else value if isinstance(value, int) else text


def _packed(name: str, content: bytes, packed: str) -> dict[str, bytes]:
    if packed != ".zip":
        return {f"{name}{packed}": PACKERS[packed](content)}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return {f"{name}.zip": stream.getvalue()}
