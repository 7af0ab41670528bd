"""Shorten an error of dbt or Spark to a few lines for a user.

Removes stack traces, Java class names, query plans, attribute ids (`id#12`), log lines and macros of the
engine; dbt's log and `--debug` show them. Keeps Spark's error class and message, with a remedy if known.
"""

from __future__ import annotations

import re
import textwrap

MAX_LINES = 12
RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (?P<text>.*?)(?: SQLSTATE: \w+)?(?:\n|$)")
ERROR = re.compile(r"\[[A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)*\] ")
# wrappers that only report a failure, without its cause
WRAPPERS = re.compile(r"\[(?:INTERNAL_ERROR|TASK_WRITE_FAILED|WRITE_FAILED|FAILED_READ_FILE\.NO_HINT)\S*\] ")
JAVA = r"(?:org|javax?|scala|com|io\.delta)\.(?:[a-z]\w*\.)+[A-Z][\w$]*"
CLASS = re.compile(rf"{JAVA}: |\({JAVA}\) |{JAVA}$")
HEADER = re.compile(r"(?:Runtime|Database|Compilation|Parsing) Error(?: in .*)?$")
CALLED = re.compile(r"An error occurred while calling \S+\.?$")
MACRO = re.compile(r"\s*> (?:in|called by) .+")
LOG = re.compile(r'\s*\{"(?:ts|time|level)"')
END = re.compile(
    r"\s*(?:at (?:java|jdk|org|scala|io|com|py4j)\.|at java\.base/|\.\.\. \d+ more"
    r"|Driver stacktrace:|JVM stacktrace:?)"
)
CAUSE = re.compile(r"\s*Caused by: (?P<text>.*)")
SOURCE = re.compile(r"\s*== (?:SQL|DataFrame)\b.*")
POINTED = re.compile(r"== SQL[^\n]*==\n(?P<text>[^\n]*)\n(?P<before>[ -]*)(?P<under>\^+)")
PLAN = re.compile(r"\s*[:+| -]*[+:]- ")
PLACE = re.compile(r";? *\(?line (?P<line>\d+),? pos(?:ition)? \d+\)?;?")
LINE_NUMBER = re.compile(r" \(line \d+\)$")
STATE = re.compile(r";? SQLSTATE: \w+")
ATTRIBUTE = re.compile(r"(?<=[\w)`])#\d+L?\b")
NO_CODE = re.compile(rf"{ERROR.pattern}| in config: Vars supplied to .*")
TWICE = re.compile(r"(\[[A-Z0-9_.]+\]) \1")
UNKNOWN = re.compile(r"Cannot find main error class '(?P<name>\w+)'")
NEEDLESS = re.compile(
    r' If necessary set "spark\.[\w.]+" to "\w+" to bypass this error\.'
    r"|You can explicitly invalidate the cache .*"
    r"|Lost task \S+ in stage .*?executor \S+\): |Job aborted(?: due to stage failure)?[:.]? *"
    r"|Task \d+ in stage \S+ failed \d+ times?, most recent failure: |Error running query: "
)
MEMORY = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit exceeded")
REMEDIES = {
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT": "If the column of the source was widened, rebuild the table: "
    "`dbt run --full-refresh --select` and the model's name.",
    "INTERNAL_ERROR": "This is a fault inside Spark; dbt's log has the whole text.",
    "FAILED_READ_FILE.FILE_NOT_EXIST": "Something other than Tidemark removed the file. "
    "Restore it, or rebuild the table.",
}
OURS = re.compile(r"(?:/\*|create |merge |insert |explain |alter |describe |cache |delete )", re.IGNORECASE)
OF_SPARK = {  # messages that say all there is to say
    MEMORY: "Spark ran out of memory. Give it more: `TIDEMARK_DRIVER_MEMORY=4g` where it runs in this "
    "process, else in the server's settings.",
    re.compile(r"stopped SparkContext"): "Spark has stopped. A cluster's master ends an application whose "
    "executors fail again and again: its page and the workers' logs say why.",
}


def plain_message(message: str | None, sql: str = "") -> str:
    """Return a message of dbt or Spark for a user.

    Args:
        message: the message, with all that Spark and Java add to it.
        sql: the statement that failed; the message then quotes the line at fault, unless it is the engine's.
    """
    message = (message or "").replace("\r", "")
    if raised := RAISED.search(message):
        text = raised["text"].strip()
        return ATTRIBUTE.sub("", text) if text.endswith("is not true!") else text
    if known := next((text for pattern, text in OF_SPARK.items() if pattern.search(message)), ""):
        return known
    if unknown := UNKNOWN.search(message):
        return f"Spark stopped with {unknown['name']}, and has no text for it."
    if "Traceback (most recent call last)" in message:
        return _of_python(message)
    lines = [_tidy(line, sql) for line in _relevant_lines(message.splitlines())]
    text = textwrap.dedent("\n".join(line for line in lines if line.strip()))
    pointed = POINTED.search(message)
    if pointed is None or " (at `" in text:
        return text
    return LINE_NUMBER.sub("", text) + _quoted(_under(pointed))


def text_of(error: BaseException) -> str:
    """Return the text of an error; PySpark asks Java for it, and this call may fail, too."""
    try:
        return str(error) or type(error).__name__
    except Exception as failed:
        return str(failed)


def sentence(error: BaseException) -> str:
    """Return what an error says, in one line."""
    return first_sentence(text_of(error))


def first_sentence(message: str) -> str:
    """Return what a message of dbt or Spark says, in one line without its codes.

    Args:
        message: the message, with all that Spark and Java add to it.
    """
    lines = [line.strip() for line in plain_message(message).splitlines() if line.strip()]
    text = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
    return NO_CODE.sub("", text).strip() or "no reason is given"


def _of_python(message: str) -> str:
    """Return the last line of a stack trace of a Python function."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not END.match(line)]
    last = lines[-1]
    start = lines.index(next(line for line in lines if line.startswith("Traceback")))
    for line in lines[start + 1 :]:
        if re.match(r"\w*(?:\.\w+)*(?:Error|Exception|Interrupt)\b", line):
            last = line
            break
    return f"A Python function failed: {last}" if "Python worker" in message else last


def _relevant_lines(lines: list[str]) -> list[str]:
    """Return the lines that say what failed: those of the message, or of the cause of a failed job."""
    parts: list[list[str]] = [[]]  # the message, and each of its causes
    skipping = False
    for line in lines:
        if cause := CAUSE.match(line):
            parts.append([cause["text"]])
            skipping = False
        elif END.match(line) or SOURCE.match(line):
            skipping = True
        elif not skipping and not _is_noise(line):
            parts[-1].append(line)
            skipping = line.rstrip().endswith(";") and bool(STATE.search(line))  # the plan follows
    with_text = [part for part in parts if any(line.strip() for line in part)]
    if len(with_text) > 1:
        return _best(with_text)
    return with_text[0][:MAX_LINES] if with_text else []


def _best(parts: list[list[str]]) -> list[str]:
    """Return the first part that has an error class of its own; else the innermost cause."""
    for part in parts:
        text = " ".join(part)
        if any(not WRAPPERS.match(found[0]) for found in ERROR.finditer(text)):
            return part[:MAX_LINES]
    return next(part for part in reversed(parts) if CLASS.sub("", " ".join(part)).strip())[:MAX_LINES]


def _is_noise(line: str) -> bool:
    stripped = line.strip()
    return bool(
        HEADER.match(stripped)
        or CALLED.match(stripped)
        or MACRO.match(line)
        or LOG.match(line)
        or PLAN.match(line)
    )


def _tidy(line: str, sql: str) -> str:
    found = next((one for one in ERROR.finditer(line) if not WRAPPERS.match(one[0])), None)
    if found is not None and (CLASS.search(line[: found.start()]) or NEEDLESS.search(line[: found.start()])):
        line = line[found.start() :]
    line = NEEDLESS.sub("", CLASS.sub("", line.removeprefix(": ")))
    if STATE.search(line):
        line = STATE.sub("", line).rstrip().rstrip(";")
    if ERROR.search(line):
        line = TWICE.sub(r"\1", ATTRIBUTE.sub("", line))
    line = PLACE.sub(lambda place: _near(int(place["line"]), sql), line)
    remedy = next((text for name, text in REMEDIES.items() if f"[{name}]" in line and text not in line), "")
    return f"{line.rstrip()} {remedy}".rstrip()


def _near(number: int, sql: str) -> str:
    """Return where a statement is at fault: the user's line, as it is written; nothing for the engine's."""
    if not sql:
        return f" (line {number})"
    lines = sql.splitlines()
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    return _quoted(text)


def _under(pointed: re.Match[str]) -> str:
    """Return the part of a statement that Spark points at by a row of `^`."""
    start = len(pointed["before"])
    part = pointed["text"][start : start + len(pointed["under"])]
    return pointed["text"] if len(part.strip()) < 2 else part


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    if not text or "__tidemark_" in text or OURS.match(text):
        return ""
    return f" (at `{text if len(text) <= 80 else text[:79] + '…'}`)"
