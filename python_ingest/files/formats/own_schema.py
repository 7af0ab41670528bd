"""The schema that an Avro, ORC or Parquet file contains: read it, and name the types that cannot land."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content
from python_ingest.files.storage import hadoop_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_DIGITS = 38
DIGITS = f"write it with at most {MOST_DIGITS} digits, or as text"
NESTED_NANOS = "write its times in microseconds"
REMEDIES = {  # by the types of Parquet that Spark cannot read
    "TIME": "write it as text, such as 08:15:00, or as a timestamp",
    "FLOAT16": "write it as float, of 32 bits",
    "UUID": "write it as text",
    "INTERVAL": "write it as text, or as a number",
    "timestamp with local time zone": "write it as timestamp without a time zone, in UTC",  # and of ORC
    "uniontype": "write it as text, or as a struct",
}
SUSPECT = ("NANOS", "DECIMAL", *REMEDIES)  # only with one of these words does the schema need a closer look
AVRO_NANOS = ("timestamp-nanos", "local-timestamp-nanos")
RECURSIVE = "recursive"


@dataclass(frozen=True)
class Leaf:
    """A part of a schema that has no parts itself.

    Attributes:
        path: its name, after the names of what it is in.
        of: its type: in Parquet the logical one, such as `TIMESTAMP(NANOS,false)`; in Avro the type, or the
            logical one with its digits, such as `decimal(50,2)`.
    """

    path: tuple[str, ...]
    of: str

    @property
    def name(self) -> str:
        return ".".join(self.path)


def schema_text(spark: SparkSession, file_format: str, content: Content, file: SourceFile) -> tuple[str, Any]:
    """Return the schema of a file as text, and for ORC and Parquet also as an object of their library.

    Args:
        spark: the session.
        file_format: `avro`, `orc` or `parquet`.
        content: the first bytes of the file, which have the whole schema of Avro.
        file: the file.
    """
    jvm: Any = spark.sparkContext._jvm
    if file_format == "avro":
        stream = jvm.java.io.ByteArrayInputStream(content.head)
        reader = jvm.org.apache.avro.file.DataFileStream(
            stream, jvm.org.apache.avro.generic.GenericDatumReader()
        )
        return str(reader.getSchema().toString()), None
    settings: Any = spark.sparkContext._jsc.hadoopConfiguration()
    path = hadoop_path(spark, file)
    if file_format == "orc":
        orc = jvm.org.apache.orc.OrcFile
        reader = orc.createReader(path, orc.readerOptions(settings))
        try:
            return str(reader.getSchema().toString()), reader.getSchema()
        finally:
            reader.close()
    footer = jvm.org.apache.parquet.hadoop.ParquetFileReader.readFooter(settings, path)
    schema = footer.getFileMetaData().getSchema()
    return str(schema.toString()), schema


def leaves_of(file_format: str, text: str, schema: Any) -> list[Leaf]:
    """Return the parts of a schema from `schema_text`, as far as they may need a closer look."""
    if file_format == "avro":
        return list(avro_leaves(json.loads(text)))
    if not any(word in text for word in SUSPECT):
        return []
    return list(orc_leaves(schema) if file_format == "orc" else parquet_leaves(schema))


def orc_leaves(schema: Any, above: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yield the parts of a type of ORC, such as a whole schema."""
    kind = str(schema.getCategory().getName())
    if kind not in ("struct", "array", "map"):
        yield Leaf(above, kind)
        return
    names = schema.getFieldNames() if kind == "struct" else [kind] * schema.getChildren().size()
    for name, child in zip(names, schema.getChildren(), strict=True):
        yield from orc_leaves(child, (*above, str(name)))


def parquet_leaves(group: Any, above: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yield the parts of a group of Parquet, such as a whole schema."""
    for field in group.getFields():
        path = (*above, str(field.getName()))
        if field.isPrimitive():
            logical = field.getLogicalTypeAnnotation()
            kind = str(field.getPrimitiveTypeName().toString() if logical is None else logical.toString())
            yield Leaf(path, kind)
        else:
            yield from parquet_leaves(field.asGroupType(), path)


def avro_leaves(
    schema: Any,
    above: tuple[str, ...] = (),
    around: tuple[str, ...] = (),
    known: dict[str, Any] | None = None,
) -> Iterator[Leaf]:
    """Yield the parts of a schema of Avro.

    Args:
        schema: the schema, as its JSON is parsed.
        above: the names of what it is in.
        around: the names of the records that it is in: a record among them has the type `recursive`.
        known: the named types so far.
    """
    known = {} if known is None else known
    if isinstance(schema, list):
        for one in schema:
            yield from avro_leaves(one, above, around, known)
    elif isinstance(schema, str):
        if schema in around:
            yield Leaf(above, RECURSIVE)
        elif schema in known:
            yield from avro_leaves(known[schema], above, around, known)
        else:
            yield Leaf(above, schema)
    elif schema["type"] in ("record", "error"):
        name = _full_name(schema)
        known[name] = known[schema["name"]] = schema
        for field in schema["fields"]:
            yield from avro_leaves(
                field["type"], (*above, field["name"]), (*around, name, schema["name"]), known
            )
    elif schema["type"] in ("array", "map"):
        yield from avro_leaves(
            schema["items" if schema["type"] == "array" else "values"], above, around, known
        )
    elif isinstance(schema["type"], (dict, list)):
        yield from avro_leaves(schema["type"], above, around, known)
    else:
        kind = str(schema.get("logicalType", schema["type"]))
        digits = f"({schema.get('precision')},{schema.get('scale', 0)})" if kind == "decimal" else ""
        yield Leaf(above, kind + digits)


def nanosecond_columns(leaves: Sequence[Leaf]) -> dict[str, bool]:
    """Return the columns with timestamps in nanoseconds; for each, whether they are instants in UTC."""
    instants = {"TIMESTAMP(NANOS,true)": True, "TIMESTAMP(NANOS,false)": False}
    instants |= {AVRO_NANOS[0]: True, AVRO_NANOS[1]: False}
    return {leaf.path[0]: instants[leaf.of] for leaf in leaves if len(leaf.path) == 1 and leaf.of in instants}


def unreadable(leaves: Sequence[Leaf]) -> str:
    """Return which columns have a type that cannot land, and how to write them; empty if there are none."""
    found = []
    for leaf in leaves:
        kind, _, digits = leaf.of.partition("(")
        precision = int(digits.split(",")[0] or 0) if kind.lower() == "decimal" else 0
        if precision > MOST_DIGITS:
            found.append(f"{leaf.name} is a decimal of {precision} digits: {DIGITS}")
        elif kind == RECURSIVE:
            found.append(f"{leaf.name} contains itself, which a column cannot: write it as JSON text")
        elif kind in REMEDIES:
            found.append(
                f"{leaf.name} has the type {kind.lower()}, which Spark cannot read: {REMEDIES[kind]}"
            )
        elif leaf.of.startswith("TIMESTAMP(NANOS") and len(leaf.path) > 1:
            found.append(f"{leaf.name} has nanoseconds inside a nested value: {NESTED_NANOS}")
    return "; ".join(found)


def _full_name(schema: Any) -> str:
    space = schema.get("namespace")
    return f"{space}.{schema['name']}" if space and "." not in schema["name"] else str(schema["name"])
