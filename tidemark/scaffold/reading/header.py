"""Decide whether the first record of CSV files has the names of the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tidemark.scaffold.reading.kinds import TYPED, common_kind, kind_of

NAME = re.compile(r"[A-Za-z]+([a-z0-9]*_[A-Za-z0-9_]*|[a-z0-9]*[A-Z][A-Za-z0-9]*)")  # order_id, orderId
USUAL = frozenset(
    re.findall(
        r"\S+",
        """
    id ids key code name names title label type kind class category group status state date day
    month year time timestamp datetime created updated modified version value values amount price
    cost total sum count number no nr num qty quantity rate score rank level size weight height
    width length age sex gender city town country region province county district area address
    street zip postcode postal place location latitude longitude lat lon lng x y z email mail phone
    url link website domain ip host user username customer client person first last surname
    firstname lastname company firm organisation organization department team role job position
    product item sku article description desc comment comments note notes text message subject body
    content remark source target from to start end begin currency unit units language lang locale
    iso alpha2 alpha3 symbol color colour brand model make event action result outcome flag active
    enabled index idx order invoice ref reference parent child hash uuid guid path file filename
    format mode method error reason tag tags field column variable metric measure species genus
    family station airline airport carrier route origin destination capital population continent
    abbreviation abbr short long native official author publisher artist album genre director actor
    rating review answer question shop store seller vendor supplier warehouse nombre nom prenom
    fecha precio cantidad ciudad pais codigo valor datum betrag preis menge ort land strasse plz
    vorname nachname bezeichnung titel beschreibung beruf ville pays prix quantite adresse valore
    prezzo cidade nome preco название имя дата город цена количество код страна адрес сумма 名称 名字 姓名
    城市 日期 时间 价格 数量 金额 编号 地址 电话 国家 名前 都市 日付 価格
    """,
    )
)


def looks_like_names(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether a record has names rather than values; None if the records do not show it.

    Args:
        first: the fields of the record in question.
        rows: the fields of the records after it, as many in each.
    """
    columns = _columns(first, rows)
    votes = _votes(first, columns)
    names, values = votes.count(2), votes.count(-2)
    if names > values or (values and _are_years(first, columns)):
        return True
    if values:
        return None if names == values else False
    if -1 in votes:
        return None
    return True if 1 in votes else None


def must_be_names(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether each field of a record looks like a name, and one is certainly none of the values."""
    votes = _votes(first, _columns(first, rows))
    return min(votes) > 0 and max(votes) > 1


def _columns(first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[row[position] for row in rows if position < len(row)] for position in range(len(first))]


def _votes(first: Sequence[str], columns: Sequence[Sequence[str]]) -> list[int]:
    return [_vote(name.strip(), column) for name, column in zip(first, columns, strict=True)]


def _vote(name: str, column: Sequence[str]) -> int:
    """Return 2 or 1 if a field is certainly or probably a name, -2 or -1 if it is a value, else 0."""
    of, kind = common_kind(column), kind_of(name)
    if of in TYPED:
        if kind == of:
            return -2
        return 2 if kind in ("text", "code", "boolean") or (kind, of) == ("time", "number") else 0
    if kind in ("number", "time", "identifier", "address", "link", "hash"):
        return -1 if of == "text" else 0
    if name and name in column:
        return -1
    words = re.split(r"[\W_]+", name.lower())
    if any(word in USUAL for word in words) or NAME.fullmatch(name):
        return 1
    return 1 if _differs(name, [value.strip() for value in column if value.strip()]) else 0


def _differs(name: str, values: Sequence[str]) -> bool:
    """Return whether all values look alike, and the name does not look like them."""
    if len(values) < 3 or not name:
        return False
    lengths = {len(value) for value in values}
    if len(lengths) == 1 and len(name) not in lengths:
        return True
    return name.islower() and all(value[:1].isupper() or " " in value for value in values)


def _are_years(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether numbers among the names are a sequence of years, and the columns have other numbers."""
    years = [
        (int(name), column)
        for name, column in zip(first, columns, strict=True)
        if re.fullmatch(r"(19|20)[0-9]{2}", name.strip())
    ]
    numbers = [number for number, _ in years]
    others = [
        name for name in first if kind_of(name) == "number" and not re.fullmatch(r"\D*(19|20)\d\d", name)
    ]
    is_sequence = len(numbers) > 1 and len({b - a for a, b in pairwise(numbers)}) == 1
    outside = [
        value for _, column in years for value in column if not re.fullmatch(r"(19|20)[0-9]{2}|", value)
    ]
    return is_sequence and not others and bool(outside)
