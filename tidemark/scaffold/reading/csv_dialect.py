"""Find the delimiter of CSV files, and the lines that are not records: titles, comments, totals."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from tidemark.scaffold.reading.csv_records import BLANKS, QUOTE, Form, Record, records_in
from tidemark.scaffold.reading.header import looks_like_names
from tidemark.scaffold.reading.kinds import TYPED, common_kind, kind_of

USUAL = ",;\t|"
RARE = "\x01\x1f~^"
RECORDS = 1_000  # of a file that show its delimiter
LEAST_DOUBT = 0.3  # of the records of a file, with as many fields
BEFORE = 60  # most lines before the header
MOST_FOOTER = 5
TOTAL = re.compile(
    r"(?i)[\W_]*(grand[ -]?total|sub-?total|totals?|sum|summe|gesamt|insgesamt|итого|всего|suma|somme|totale"
    r"|average|mean|records?|rows?|number of|count|end of|eof|generated|created|exported|source|sources"
    r"|notes?|footnotes?|copyright|quelle|合计|总计|合計)\b.*"
)
GRAND_TOTAL = re.compile(r"(?i)(grand[ -]?)?total:?|итого:?|summe:?|合计|总计")


@dataclass(frozen=True)
class Shape:
    """How the lines of a file look under a delimiter.

    Attributes:
        delimiter: the delimiter.
        width: the most frequent number of fields.
        share: the share of the records that have it.
        is_clean: whether the first of these has a text in each field, each text once.
        are_adjacent: whether there are several of these, and no other record between them.
    """

    delimiter: str
    width: int
    share: float
    is_clean: bool
    are_adjacent: bool = False

    @property
    def rank(self) -> tuple[float, float, int]:
        return (self.share >= 0.5, self.share + 0.5 * self.is_clean, self.width)


def shape_of(text: str, delimiter: str, escape: str = QUOTE) -> Shape:
    """Return how a text looks under a delimiter."""
    lines = (line for line in io.StringIO(text, newline="") if not line.startswith("#"))
    records = list(islice(records_in(lines, Form(delimiter, escape)), RECORDS))
    widths = Counter(record.width for record in records)
    if not widths:
        return Shape(delimiter, 0, 0.0, is_clean=False)
    # a wider record is better evidence than one field, which any text has
    width = max(widths, key=lambda width: (widths[width] * (0.5 if width < 2 else 1), width))
    first = next((record.fields for record in records if record.width == width), None) or []
    names = [name.strip() for name in first]
    others = set(USUAL) - {delimiter}
    is_clean = (
        len(set(names)) == len(names)
        and all(names)
        and not any(kind_of(name) == "number" or others & set(name) for name in names)
    )
    places = [place for place, record in enumerate(records) if record.width == width]
    are_adjacent = len(places) > 1 and places[-1] - places[0] == len(places) - 1
    share = len(places) / len(records)
    return Shape(delimiter, width, share, is_clean=is_clean, are_adjacent=are_adjacent)


def best_shape(text: str) -> Shape | None:
    """Return the shape under the likeliest delimiter; None if no delimiter makes fields."""
    for signs, least in ((USUAL, 0.5), (RARE, 0.9)):
        shapes = [shape_of(text, sign) for sign in signs if sign in text]
        fitting = [shape for shape in shapes if shape.width > 1 and shape.share >= least]
        if fitting:
            return max(fitting, key=lambda shape: shape.rank)
    return None


def doubtful_shape(text: str) -> Shape | None:
    """Return the shape of adjacent records of three fields or more that are too few to decide a delimiter."""
    for sign in USUAL:
        shape = shape_of(text, sign)
        # a sentence may have one comma
        if shape.width > 2 and shape.share >= LEAST_DOUBT and shape.are_adjacent:
            return shape
    return None


def escape_of(text: str, delimiter: str) -> str:
    r"""Return the sign before a quote in a quoted field: the quote itself, or `\` if only that fits."""
    if '\\"' not in text:
        return QUOTE
    doubled, backslash = (shape_of(text, delimiter, escape) for escape in (QUOTE, "\\"))
    return "\\" if backslash.share > doubled.share else QUOTE


def is_aligned(text: str) -> bool:
    """Return whether the fields are separated by runs of blanks, as in a table of fixed width."""
    lines = [line.strip() for line in islice(io.StringIO(text), 50) if line.strip(BLANKS)]
    widths = Counter(len(re.split(r" {2,}", line)) for line in lines)
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return len(lines) > 1 and width > 1 and count >= 0.8 * len(lines)


def words_of(text: str) -> int:
    """Return the number of words in a line, if all lines have as many; else 0."""
    widths = {len(line.split(" ")) for line in islice(io.StringIO(text), RECORDS) if line.strip(BLANKS)}
    return widths.pop() if len(widths) == 1 else 0


def comment_of(records: Sequence[Record], width: int) -> str | None:
    """Return `#` if some lines that begin with it are not records, and it does not begin the header."""
    marked = [record for record in records if record.text.startswith("#")]
    others = [record for record in records if not record.text.startswith("#")]
    if not marked or len(marked) > max(BEFORE, len(others)) or not others:
        return None
    if any(record.number > others[0].number and record.width == width for record in marked):
        return None  # a value that begins with the sign
    last = max((r for r in marked if r.number < others[0].number), key=lambda r: r.number, default=None)
    if last is None or last.width != width:
        return "#"
    rows = [record.fields for record in others if record.fields and record.width == width][:RECORDS]
    return "#" if rows[1:] and looks_like_names(rows[0], rows[1:]) else None


def lines_before(records: Sequence[Record], width: int) -> int:
    """Return the position of the header: the number of records before it."""
    if width < 2:
        return 0
    first = next((position for position, record in enumerate(records) if record.width == width), 0)
    filled = [
        sum(bool(field.strip()) for field in record.fields or ()) for record in records[: first + BEFORE]
    ]
    for position in range(first, len(filled)):
        if filled[position] == width:
            return position
        if filled[position] > max(1, width // 2):
            break  # not a title with the delimiters of a spreadsheet
    return first


def lines_after(records: Sequence[Record], width: int) -> int:
    """Return the number of last records that are totals or remarks."""
    columns = [record.fields[0] for record in records[1:] if record.fields and record.width == width]
    kind = common_kind(columns[:-MOST_FOOTER] or columns)
    count = 0
    for record in reversed(records[max(2, len(records) - MOST_FOOTER) :]):
        if not _is_total(record, width, kind):
            break
        count += 1
    return count


def _is_total(record: Record, width: int, kind: str) -> bool:
    """Return whether a record is a total: by its words, where its first field does not fit the column."""
    fields = [field.strip() for field in record.fields or ()]
    filled = next((field for field in fields if field), "")
    if record.width != width:
        return bool(TOTAL.fullmatch(filled)) or not filled.strip("-=*_ ")
    if kind not in TYPED:
        return width > 1 and bool(GRAND_TOTAL.fullmatch(filled))
    return kind_of(fields[0]) not in (kind, "empty") and bool(TOTAL.fullmatch(filled))
