"""JSON: a record a line, or a file that is one object or one array of objects; nested types are kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructField, StructType
from rich.filesize import decimal

from python_ingest.columns import Target, fields_of, in_sql, sql_name
from python_ingest.contents import Content
from python_ingest.declarations import FileFeed
from python_ingest.external import JsonOptions
from python_ingest.failures import innermost
from python_ingest.formats.base import Rejection, compression, origin
from python_ingest.formats.inference import inferred_fields
from python_ingest.formats.lines import ILLEGIBLE, read_plain_lines
from python_ingest.formats.plain_json import with_plain
from python_ingest.formats.rescue import NESTED, is_lost, text_in_sql
from python_ingest.paths import spellings
from python_ingest.storage import SourceFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

WHOLE_BYTES = 64 * 2**20
WORKING = ("_line", "_is_legible", "_plain", "_typed", "_objects", "_fields", "_lost", "_corrupt_reason")


@dataclass(frozen=True)
class Renamed:
    """The fields of a file whose columns in bronze have other names, as far as the file was surveyed."""

    names: tuple[str, ...] = ()


class Json:
    """JSON files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    has = "it"
    ignores_case = False

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        options, contract = feed.external.options, feed.external.contract
        self._whole_file = isinstance(options, JsonOptions) and options.whole_file
        self.has_lines = not self._whole_file
        self._is_surveyed = any(policy != "rescue" for policy in contract.model_dump().values())
        self._declared = {column.in_file for column in feed.columns}
        self._surveyed: dict[str, StructType] = {}
        self._unclear: dict[str, str] = {}

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Infer the fields of each file from all its records, where the contract asks for them."""
        self._surveyed, self._unclear = {}, {}
        if self._is_surveyed and files:
            self._infer(files, _types(targets, ()))

    def _infer(self, files: Sequence[SourceFile], types: StructType) -> None:
        parsed = _parsed(self._read(files), types, whole_file=self._whole_file).where(
            "_corrupt_reason is null"
        )
        lost = [
            f.bool_or(f.col("_lost").getField(field.name)).alias(f"lost{number}")
            for number, field in enumerate(types)
        ]
        inferred = f.expr("schema_of_variant_agg(try_parse_json(_line))").alias("inferred")
        try:
            found = {row["_uri"]: row for row in parsed.groupBy("_uri").agg(inferred, *lost).collect()}
            for file in files:
                if row := next((found[uri] for uri in spellings(file.uri) if uri in found), None):
                    are_lost = {field.name for number, field in enumerate(types) if row[f"lost{number}"]}
                    self._surveyed[file.path] = inferred_fields(row["inferred"], types, are_lost)
        except (Py4JJavaError, PySparkException, RecursionError) as error:
            if len(files) > 1:
                for file in files:  # one of them is the cause
                    self._infer([file], types)
            else:
                said = "too deep" if isinstance(error, RecursionError) else innermost(error)
                self._unclear[files[0].path] = f"its fields cannot be inferred: {said}"

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Refuse what cannot be JSON in UTF-8."""
        if not content.head.strip():
            return Rejection("the file is empty")
        if refused := compression(content):
            return refused
        if self._whole_file and content.size > WHOLE_BYTES:
            return Rejection(f"it is larger than {decimal(WHOLE_BYTES)}: write it as JSON lines")
        if b"\x00" in content.head:
            return Rejection("not JSON in UTF-8: it holds NUL bytes")
        if file.path in self._unclear:
            return Rejection(self._unclear[file.path])
        names = self._surveyed[file.path].names if file.path in self._surveyed else []
        return Renamed(tuple(sorted(n for n in names if sql_name(n) != n and n not in self._declared)))

    def fields(self, layout: Hashable, file: SourceFile) -> StructType | None:
        """Return the fields that the survey found."""
        return self._surveyed.get(file.path)

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read records with the columns' types; other fields and values of other types are rescued."""
        return self.parse(self.names(layout), self._read(files), targets)

    def names(self, layout: Hashable) -> list[str]:
        """Return the fields that have another name in bronze."""
        assert isinstance(layout, Renamed)  # noqa: S101  # only `layout` makes them
        return list(layout.names)

    def parse(self, names: Sequence[str], lines: DataFrame, targets: Sequence[Target]) -> DataFrame:
        """Parse records."""
        return json_rows(lines, names, targets, whole_file=self._whole_file)

    def _read(self, files: Sequence[SourceFile]) -> DataFrame:
        if not self._whole_file:
            return read_plain_lines(self._spark, files)
        whole = self._spark.read.text([file.glob for file in files], wholetext=True)
        return whole.select(
            f.col("value").alias("_line"), f.is_valid_utf8("value").alias("_is_legible"), *origin()
        )


def json_rows(
    lines: DataFrame, names: Sequence[str], targets: Sequence[Target], *, whole_file: bool = False
) -> DataFrame:
    """Parse records.

    Args:
        lines: `_line`, `_is_legible`, and columns that are passed on.
        names: fields that have another name in bronze and are not declared.
        targets: the bronze table's columns.
        whole_file: whether a line may be an array of objects.

    Returns:
        The target columns, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, and those passed on.
    """
    types = _types(targets, names)
    parsed = _parsed(lines, types, whole_file=whole_file)
    is_sound = f.col("_corrupt_reason").isNull()
    values = [
        _value(field.name, field.dataType).alias(t.name) for t, field in zip(targets, types, strict=True)
    ]
    return parsed.select(
        *values,
        f.when(is_sound & f.col("_plain").isNull(), _rescued(types)).alias("_rescued_data"),
        f.when(~is_sound, f.make_valid_utf8("_line")).alias("_corrupt_record"),
        "_corrupt_reason",
        *[name for name in parsed.columns if name not in WORKING],
    )


def _parsed(lines: DataFrame, types: StructType, *, whole_file: bool) -> DataFrame:
    has_mark = f.startswith("_line", f.lit("\ufeff"))  # of the byte order
    lines = lines.withColumn("_line", f.when(has_mark, f.expr("substr(_line, 2)")).otherwise(f.col("_line")))
    if whole_file:
        lines = lines.withColumn("_line", f.trim("_line"))
        elements = f.when(f.startswith("_line", f.lit("[")), f.from_json("_line", "array<string>"))
        lines = lines.withColumn("_line", f.explode(f.coalesce(elements, f.array("_line"))))
    is_open = f.col("_plain").isNull()
    # Wrapped in two ways, since what follows a record's end is an error in one of them at least,
    # and would be passed over without: no text closes both.
    in_object = f.concat(f.lit('{"record":'), "_line", f.lit("}"))
    in_array = f.concat(f.lit("["), "_line", f.lit("]"))
    wrapped = StructType([StructField("record", types)])
    parsed = (
        with_plain(lines, types)
        .select(
            "*",
            f.when(is_open, f.from_json(in_object, wrapped)).getField("record").alias("_typed"),
            f.when(is_open, f.from_json(in_array, "array<map<string,variant>>")).alias("_objects"),
        )
        .withColumn("_fields", f.get("_objects", f.lit(0)))
    )
    names = f.map_keys("_fields")
    is_object = f.col("_typed").isNotNull() & f.col("_fields").isNotNull() & (f.size("_objects") == 1)
    reason = (
        f.when(~f.col("_is_legible"), ILLEGIBLE)
        .when(f.size(names) != f.size(f.array_distinct(names)), "it names a field twice")
        .when(~f.coalesce(is_object, f.lit(False)), "it is not one JSON object")
    )
    lost = [f.expr(_lost(field.name, field.dataType)).alias(field.name) for field in types]
    return parsed.withColumns(
        {"_corrupt_reason": f.when(is_open, reason), "_lost": f.when(is_open, f.struct(*lost))}
    )


def _types(targets: Sequence[Target], names: Sequence[str]) -> StructType:
    """Return the targets' types by the names that they have in the file."""
    filled = fields_of(targets, names, ignores_case=False)
    types = StructType()
    for target in targets:
        types.add(filled.get(target.name, target.in_file), target.type)
    return types


def _value(name: str, of: DataType) -> Column:
    is_held = f.col("_corrupt_reason").isNull()
    if not isinstance(of, NESTED):
        is_held &= ~f.col("_lost").getField(name)
    plain = f.col("_plain")
    return f.when(plain.isNotNull(), plain.getField(name)).when(is_held, f.col("_typed").getField(name))


def _rescued(types: StructType) -> Column:
    is_lost = [f.col("_lost").getField(name) for name in types.names]
    lost = f.array(*[f.when(one, f.lit(name)) for name, one in zip(types.names, is_lost, strict=True)])
    kept = f.map_filter(
        "_fields",
        lambda key, _: ~key.isin(*types.names) | f.array_contains(f.array_compact(lost), key),
    )
    others = f.array_except(f.map_keys("_fields"), f.array(*map(f.lit, types.names)))
    # looked at first, since most records have nothing to rescue
    has_some = reduce(lambda one, other: one | other, is_lost, f.size(others) > 0)
    return f.when(has_some, f.nullif(f.to_json(kept), f.lit("{}")))


def _lost(name: str, of: DataType) -> str:
    """Return whether a column would not give a field back."""
    field = f"_fields[{text_in_sql(name)}]"
    raw = f"nullif(to_json({field}), 'null')" if isinstance(of, NESTED) else f"cast({field} as string)"
    return f"coalesce({is_lost(raw, f'_typed.{in_sql(name)}', of)}, false)"
