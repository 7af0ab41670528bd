"""The clustering of a Delta table and of an Iceberg table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError
from tidemark.lake.delta_log import DeltaLog
from tidemark.lake.retention import set_properties
from tidemark.lake.table_format import CLUSTERED, DELTA, iceberg_call, loaded_iceberg, table_format
from tidemark.lake.versions_by_format import signed
from tidemark.maintain.clustering import Clustering, NewFiles, in_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY_US = "tidemark cluster"  # signs the commits; not the signature of runs, since no run made them
STATISTICS = "delta.dataSkippingStatsColumns"
COUNTED = "delta.dataSkippingNumIndexedCols"
LOOKED_AT = 1000  # commits that are searched for the last clustering
PARTITIONS = 500  # in a condition; of more of them, all are rewritten


class DeltaClustering(Clustering):
    """Delta tables without partitions: liquid clustering, which marks the files that it has written."""

    def new_files(self) -> NewFiles:
        """Return the files that have no mark of these columns."""
        files = self._log.files()
        mark = json.dumps(self.columns, separators=(",", ":"), ensure_ascii=False)
        new = files.where(~f.col("tags")["ZCUBE_ZORDER_BY"].eqNullSafe(mark))
        return _summed(new, "size")

    def rewrite(self, new: NewFiles) -> tuple[int, int]:
        """Cluster new files, together with clustered ones that are in small groups."""
        present = list(self._detail["clusteringColumns"])
        if present != self.columns:
            self._keep_statistics()
            names = ", ".join(f"`{column.replace('`', '``')}`" for column in self.columns)
            self._spark.sql(f"alter table {self._table} cluster by ({names})")
        # without `full`, files stay as they are that were clustered by other columns
        return self._optimized("full" if present and present != self.columns else "")

    def _optimized(self, how: str) -> tuple[int, int]:
        with signed(self._spark, BY_US):
            metrics: Any = self._spark.sql(f"optimize {self._table} {how}").collect()[0]["metrics"]
        return metrics["numFilesRemoved"], metrics["numFilesAdded"]

    def _keep_statistics(self) -> None:
        """Let Delta collect min/max statistics for the columns; clustering needs them."""
        properties = self._log.state()["properties"]
        if STATISTICS in properties:
            kept = [name.strip() for name in properties[STATISTICS].split(",")]
            lacking = [name for name in self.columns if name not in kept]
            if lacking:
                set_properties(self._spark, self._table, {STATISTICS: ",".join([*kept, *lacking])})
            return
        counted = int(properties.get(COUNTED, 32))
        if counted < 0:
            return
        late = [name for name in self.columns if name not in list(self._log.columns)[:counted]]
        if late:
            raise TidemarkError(
                f"{self._table}: Delta collects min/max statistics only for the first {counted} columns; "
                f"{', '.join(late)} comes later.",
                f"Select the column earlier, or set `tblproperties: {{{STATISTICS}: …}}` of the model.",
            )

    def _partition_columns(self) -> list[str]:
        return list(self._detail["partitionColumns"])

    @cached_property
    def _log(self) -> DeltaLog:
        return DeltaLog(self._spark, self._table)

    @cached_property
    def _detail(self) -> Any:
        return self._spark.sql(f"describe detail {self._table}").first()


class DeltaPartitions(DeltaClustering):
    """Delta tables with partitions: a Z-order in each partition that got files since the last time."""

    def new_files(self) -> NewFiles:
        """Return the files that commits have added since the last clustering by these columns."""
        added: dict[str, tuple[tuple[str, str | None], ...]] = {}
        for commit in self._since():
            for action in commit:
                if add := action.get("add"):
                    added[add["path"]] = tuple(sorted(add["partitionValues"].items()))
        files = self._log.files()
        if not self._is_whole:
            files = files.where(f.col("path").isin([*added]))
        found = _summed(files, "size")
        partitions = tuple(sorted(set(added.values()), key=str))
        is_all = self._is_whole or len(partitions) > PARTITIONS
        return NewFiles(found.number, found.bytes, None if is_all else partitions)

    def rewrite(self, new: NewFiles) -> tuple[int, int]:
        """Rewrite the partitions of new files."""
        self._keep_statistics()
        types = dict(self._spark.table(self._table).dtypes)
        where = in_partitions(new, types)
        names = ", ".join(f"`{column.replace('`', '``')}`" for column in self.columns)
        return self._optimized(f"{f'where {where} ' if where else ''}zorder by ({names})")

    def _since(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the commits since the last clustering, newest first; all files are new if there was none."""
        self._is_whole = False
        for version in range(self._log.version, max(self._log.version - LOOKED_AT, -1), -1):
            commit = self._log.actions(version)
            if commit is None:
                break
            if _is_clustering(commit, self.columns):
                return
            yield commit
        self._is_whole = True


class IcebergClustering(Clustering):
    """Iceberg tables: files are sorted along a Z-order. A property of the table has what was sorted last."""

    def new_files(self) -> NewFiles:
        """Return the files of later commits than the last clustering by these columns."""
        files = self._spark.table(f"{self._table}.entries").where("status < 2 and data_file.content = 0")
        if self._sorted["columns"] == self.columns:
            files = files.where(f"file_sequence_number > {self._sorted['sequence']}")
        found = _summed(files, "data_file.file_size_in_bytes")
        if not (found.number and self.partitioned_by and self._sorted["columns"] == self.columns):
            return found
        values = [
            f"cast(data_file.partition.`{name.replace('`', '``')}` as string)" for name in self.partitioned_by
        ]
        rows = files.selectExpr(*values).distinct().limit(PARTITIONS + 1).collect()
        if len(rows) > PARTITIONS:
            return found
        return NewFiles(
            found.number,
            found.bytes,
            tuple(tuple(zip(self.partitioned_by, row, strict=True)) for row in rows),
        )

    def rewrite(self, new: NewFiles) -> tuple[int, int]:
        """Sort the partitions of new files; without partitions, the small files, or all at the first time."""
        types = dict(self._spark.table(self._table).dtypes)
        where = in_partitions(new, types)
        is_first = self._sorted["columns"] != self.columns
        options = "'rewrite-all', 'true'" if where or is_first else "'min-input-files', '2'"
        names = ", ".join(self.columns)
        order = names if len(self.columns) == 1 else f"zorder({names})"
        arguments = ["strategy => 'sort'", f"sort_order => '{order}'", f"options => map({options})"]
        if where:
            text = where.replace("\\", "\\\\").replace("'", "\\'")
            arguments.append(f"where => '{text}'")
        call = iceberg_call(self._spark, "rewrite_data_files", self._table, *arguments)
        row: Any = self._spark.sql(call).collect()[0]
        sequence = loaded_iceberg(self._spark, self._table).currentSnapshot().sequenceNumber()
        mark = json.dumps({"columns": self.columns, "sequence": sequence})
        set_properties(self._spark, self._table, {CLUSTERED: mark})
        return row["rewritten_data_files_count"], row["added_data_files_count"]

    def _partition_columns(self) -> list[str]:
        fields = loaded_iceberg(self._spark, self._table).spec().fields()
        names = [str(field.name()) for field in fields]
        # a field of another name is computed from a column, and no condition of SQL names it
        return names if set(names) <= set(self._spark.table(self._table).columns) else []

    @cached_property
    def _sorted(self) -> dict[str, Any]:
        mark = loaded_iceberg(self._spark, self._table).properties().get(CLUSTERED)
        return json.loads(mark) if mark else {"columns": None}


def clustering_of(spark: SparkSession, table: str, columns: Sequence[str]) -> Clustering:
    """Return the clustering of a table that exists.

    Args:
        spark: a session with a JVM.
        table: `schema.name`.
        columns: the declared columns.

    Raises:
        TidemarkError: if the table cannot be clustered by these columns.
    """
    if table_format(spark) != DELTA:
        return IcebergClustering(spark, table, columns)
    whole = DeltaClustering(spark, table, columns)
    return DeltaPartitions(spark, table, columns) if whole.partitioned_by else whole


def clusterings_of(
    spark: SparkSession, tables: Sequence[str], columns: Mapping[str, Sequence[str]]
) -> dict[str, Clustering]:
    """Return the clustering of each table that declares columns; raise as `clustering_of` does."""
    return {table: clustering_of(spark, table, columns[table]) for table in tables if columns.get(table)}


def _is_clustering(commit: Sequence[dict[str, Any]], columns: Sequence[str]) -> bool:
    """Return whether a commit has clustered all new files by these columns."""
    commit_info: dict[str, Any] = next(
        (action["commitInfo"] for action in commit if "commitInfo" in action), {}
    )
    order = (commit_info.get("operationParameters") or {}).get("zOrderBy") or "[]"
    is_ours = commit_info.get("operation") == "OPTIMIZE" and commit_info.get("userMetadata") == BY_US
    return is_ours and json.loads(order) == list(columns)


def _summed(files: DataFrame, size: str) -> NewFiles:
    row: Any = files.agg(f.count("*"), f.sum(size)).first()
    return NewFiles(row[0], row[1] or 0)
