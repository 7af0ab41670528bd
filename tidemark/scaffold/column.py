"""A proposed column: its name, its types, its SQL in silver and its rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from python_ingest.feeds.file_formats import FILE_FORMATS
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.names import column_names
from tidemark.scaffold.reading.texts import HALF
from tidemark.scaffold.sampling import Sample
from tidemark.scaffold.value_types import ValueType

JINJA = re.compile(r"\{[{%#]+")
WORDS = {  # of a type; `a number` and `a time` follow for what is not here
    "bigint": "a whole number",
    "int": "a whole number",
    "smallint": "a whole number",
    "tinyint": "a whole number",
    "boolean": "true or false",
    "date": "a date",
    "string": "text",
    "array": "a list",
    "struct": "an object",
    "map": "an object",
    "binary": "bytes",
}
ISO = {"date": "yyyy-MM-dd", "timestamp": "yyyy-MM-ddTHH:mm:ss"}
MACROS = {"bigint": "as_integer", "boolean": "as_boolean", "date": "as_date", "double": "as_double"}
LEAVES = 40  # most fields of an object that get a rule of their own


@dataclass(frozen=True)
class Proposed:
    """A proposed column.

    Attributes:
        name: the name in bronze and silver.
        field: the name in the file.
        bronze_type: the type in bronze.
        value: the type of its text in silver.
        is_required: whether every record of the sample has a value.
        is_keyword: whether the column was renamed because its name is an SQL keyword.
    """

    name: str
    field: str
    bronze_type: str
    value: ValueType
    is_required: bool
    is_keyword: bool = False

    @property
    def type(self) -> str:
        """The type in silver."""
        if self.bronze_type == "string":
            return self.value.type
        return "string" if self.bronze_type.startswith("map<") else self.bronze_type

    @property
    def is_cast(self) -> bool:
        """Whether text of bronze has another type in silver."""
        return self.bronze_type == "string" and self.type != "string"

    @property
    def sql(self) -> str:
        """The value in silver, as a macro's call or SQL."""
        if self.bronze_type.startswith("map<"):
            return f"to_json({self.name})"
        if self.bronze_type != "string":
            return self.name
        macro = "as_text" if self.type == "string" else MACROS.get(self.type)
        macro = macro or ("as_decimal" if self.type.startswith("decimal") else "as_timestamp")
        shown = [(name, words) for name, words in self.value.arguments if (name, words) not in DEFAULTS]
        arguments = [in_jinja(self.name), *(f"{name}={in_jinja(word)}" for name, word in shown)]
        return f"{{{{ {macro}({', '.join(arguments)}) }}}}"

    @property
    def text_name(self) -> str:
        """The name of the text from which a value is cast."""
        return f"_{self.name}_text"

    @property
    def renamed(self) -> str:
        """The old and the new name, with the reason if it is an SQL keyword."""
        return f"{self.field} to {self.name}{' (an SQL keyword)' if self.is_keyword else ''}"

    @property
    def words(self) -> str:
        """What a value is, in words."""
        if self.is_cast:
            return self._words_of_text()
        return _words_of(re.split("[(<]", self.bronze_type)[0])

    def _words_of_text(self) -> str:
        given = dict(self.value.arguments)
        if self.type == "boolean":
            return " or ".join([*given["true_words"], *given["false_words"]])
        if self.type.startswith("decimal"):
            known = "a percentage" if given.get("strip") == "%" else "a number"
            return f"{known} (at most {given['scale']} decimals)"
        known = _words_of(self.type)
        shape = re.sub(r"[\[\]']|\[.SSS\]", "", self.value.format) or ISO.get(self.type, "")
        return f"{known} ({shape})" if shape else known

    def rules(self, *, is_key: bool) -> Iterator[str]:
        """Yield the rules, as elements of a list in Jinja.

        Args:
            is_key: whether the column identifies records, so that it must have a value.
        """
        if self.is_cast:
            broken = f"'{self.name} is null and ' ~ has_value({in_jinja(self.text_name)}, nulls)"
            yield f"({broken}, {in_jinja(f'{self.name} is not {self.words}')}),"
        elif self.bronze_type != "string":
            for condition, words, lost in self._lost():
                yield f"({in_jinja(condition)} ~ {lost} ~ ' is not null', {in_jinja(words)}, {lost}),"
        if self.is_required or is_key:
            yield f"('{self.name} is null', '{self.name} is missing'),"

    def _lost(self) -> Iterator[tuple[str, str, str]]:
        """Yield a condition, words, and Jinja of the value for values that did not fit in bronze."""
        whole = f"rescued_value({in_jinja(self.field)})"
        is_list = re.match(r"(array|map)<[^<]*(<string, ?[^<]*)?>$", self.bronze_type)
        yield "" if is_list else f"{self.name} is null and ", f"{self.name} is not {self.words}", whole
        for path, of in leaves_of(self.bronze_type)[:LEAVES]:
            column = ".".join([self.name, *path])
            words = Proposed(column, "", of, ValueType(), is_required=False).words
            at = in_jinja(f", '$.{'.'.join(path)}')")
            yield f"{column} is null and ", f"{column} is not {words}", f"'get_json_object(' ~ {whole} ~ {at}"


DEFAULTS = (("true_words", ["true"]), ("false_words", ["false"]))


def in_jinja(value: Any) -> str:
    """Return a value as a literal of Jinja, in printable characters."""
    if isinstance(value, list):
        return f"[{', '.join(in_jinja(each) for each in value)}]"
    text = str(value)
    if not isinstance(value, str) or (text.isprintable() and not re.search(r"['\\{}]", text)):
        return f"'{text}'" if isinstance(value, str) else text
    return f"'{''.join(map(_escaped, text))}'"


def plain_for_dbt(value: Any) -> Any:
    """Return a value for YAML that dbt renders: texts in it that would be Jinja become literals of Jinja.

    Args:
        value: a text, or lists and maps of texts and other values.
    """
    if isinstance(value, dict):
        return type(value)({key: plain_for_dbt(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        return [plain_for_dbt(inner) for inner in value]
    is_jinja = isinstance(value, str) and (JINJA.search(value) or value.endswith("\n"))
    return f"{{{{ {in_jinja(value)} }}}}" if is_jinja else value


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable() and sign not in "{}":
        return sign
    short = json.dumps(sign)[1:-1]
    return (
        short if len(short) == 2 else f"\\U{ord(sign):08x}" if ord(sign) > 0xFFFF else f"\\u{ord(sign):04x}"
    )


def leaves_of(of: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the paths and types of the fields in a struct that are not text; unusual names are left out."""
    if not of.startswith("struct<"):
        return []
    found: list[tuple[tuple[str, ...], str]] = []
    for part in _split(of.removeprefix("struct<").removesuffix(">")):
        name, _, inner = part.partition(":")
        if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            found += [((name, *path), leaf) for path, leaf in leaves_of(inner)]
            found += [((name,), inner)] if "<" not in inner and inner != "string" else []
    return found


def _split(fields: str) -> Iterator[str]:
    """Yield the fields of a struct's type."""
    depth, start = 0, 0
    for at, sign in enumerate(fields):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            yield fields[start:at].strip()
            start = at + 1
    yield fields[start:].strip()


def _words_of(of: str) -> str:
    return WORDS.get(of, "a time" if of.startswith("timestamp") else "a number")


def proposed_column(
    sample: Sample, field: str, entity: str, value: ValueType, *, is_required: bool
) -> Proposed:
    """Propose a column for a field of the sample.

    Args:
        sample: the sample of the files.
        field: the name in the files.
        entity: what one record is; the prefix of the column's name if that is an SQL keyword.
        value: the type of its text.
        is_required: whether every record has a value.

    Raises:
        TidemarkError: when dbt would read the field's name as Jinja, or cannot hold it.
    """
    (name, is_keyword), of = column_names(tuple(sample.types), entity)[field], sample.types[field]
    if JINJA.search(field) or JINJA.search(of):
        raise TidemarkError(
            f"The column name {field!r} would be Jinja in dbt.",
            "Declare the feed by hand, under another name: docs/landing.md.",
        )
    if HALF.search(field + of):
        raise TidemarkError(
            f"The column name {field!r} has half of a surrogate pair, which no file of dbt can hold.",
            "Rename the field in the source.",
        )
    bronze = "string" if FILE_FORMATS[sample.file_format].holds_text else of
    return Proposed(name, field, bronze, value, is_required, is_keyword)
