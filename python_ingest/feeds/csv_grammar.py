r"""The grammar of CSV: where a record of a file ends, and whether its quotes are closed.

A record follows RFC 4180: a quoted field may contain line breaks; then a delimiter or the end of the line
follows its last quote. Text after a quote that closes a field on its first line is tolerated, and so are
quotes in a field that does not begin with one (`5" pipe`). If a quote is not closed by these rules, its line
alone is a broken record, and the next line begins another record.

The expressions are written for Java. Possessive repetitions (`*+`) need no stack, however long a file is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

BREAK = re.compile("\r\n|\r|\n")
LINE = r"[^\r\n]*+"
LINE_END = r"(?:\r\n|[\r\n]|\z)"
AT_LINE_END = r"(?=[\r\n]|\z)"


@dataclass(frozen=True)
class Grammar:
    """The grammar of the files of one feed.

    Attributes:
        delimiter: separates fields.
        quote: encloses fields.
        escape: precedes a quote inside a quoted field.
        comment: the first character of lines that are not records.
        spans: whether a quoted field may contain line breaks.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    comment: str | None = None
    spans: bool = True

    def records(self, dropped: int = 0) -> str:
        """Return the expression whose group 1 is, match by match, each record, blank line and comment.

        Args:
            dropped: the number of lines at the start of a text that are not records, such as the header.
        """
        kinds = [f"{_sign(self.comment)}{LINE}"] if self.comment else []
        kinds += [f"{self.record()}{AT_LINE_END}", LINE]
        start = rf"(?:\A\x{{feff}}?+(?:{LINE}{LINE_END}){{{dropped}}}+)?+"
        return rf"(?s)\G{start}({'|'.join(kinds)}){LINE_END}"

    def closed_record(self) -> str:
        """Return the expression that matches a record in which each quoted field is closed."""
        return rf"(?s)\A{self.record()}\z"

    def closed_lines(self) -> str:
        """Return the expression that matches a text if each line of it is a record with closed quotes."""
        quote = _sign(self.quote)
        inside = rf"[^{_sign(self.delimiter)}\r\n\x{{feff}}]"  # a character before a quote inside a field
        field = f"(?<!{inside}){self._quoted_on_line()}"
        return rf"(?s)\A[^{quote}]*(?:(?:{field}|(?<={inside}){quote})[^{quote}]*)*+\z"

    def first_record(self, text: str) -> str | None:
        """Return the record at the start of a text; None if a quote in its first line is not closed."""
        found = _first_record(self).match(text)
        return found[0] if found else None

    def record(self) -> str:
        """Return the expression of a record in which each quoted field is closed."""
        kinds = [self._quoted_on_line()]
        if self.spans:
            kinds.append(rf"{self._quoted(one_line=False)}(?=[{_sign(self.delimiter)}\r\n]|\z)")
        kinds.append(rf"(?!{_sign(self.quote)})[^{_sign(self.delimiter)}\r\n]*+")
        field = f"(?:{'|'.join(kinds)})"
        return f"{field}(?:{_sign(self.delimiter)}{field})*+"

    def _quoted(self, *, one_line: bool) -> str:
        """Return the expression of a quoted field, with its quotes."""
        quote, escape = _sign(self.quote), _sign(self.escape)
        breaks = r"\r\n" if one_line else ""
        if self.quote == self.escape:
            inner, pair, end = f"[^{quote}{breaks}]*+", f"{quote}{quote}", f"(?!{quote})"
        else:
            inner, end = f"[^{quote}{escape}{breaks}]*+", ""
            pair = f"{escape}{'[^' + breaks + ']' if one_line else '.'}"
        return f"{quote}{inner}(?:{pair}{inner})*+{quote}{end}"

    def _quoted_on_line(self) -> str:
        """Return the expression of a field that begins with a quote and closes it on the same line.

        Text may follow, but not `escape`, for which Spark's parser may look for another closing quote.
        """
        delimiter = _sign(self.delimiter)
        escape = _sign(self.escape) if self.escape != self.quote else ""
        text = rf"[^{delimiter}{escape}\r\n]*+(?=[{delimiter}\r\n]|\z)"
        return f"{self._quoted(one_line=True)}{text}"


@cache
def _first_record(grammar: Grammar) -> re.Pattern[str]:
    return re.compile(in_python(f"(?s){grammar.record()}{AT_LINE_END}"))


def in_python(pattern: str) -> str:
    """Return an expression of this module for Python's `re`; it finds the same, but slower."""
    greedy = pattern.replace("*+", "*").replace("?+", "?").replace("}+", "}")
    plain = greedy.replace(r"\G", "").replace(r"\z", r"\Z")
    return re.sub(r"\\x\{(\w+)\}", lambda found: re.escape(chr(int(found[1], 16))), plain)


def _sign(character: str) -> str:
    return rf"\x{{{ord(character):x}}}"
