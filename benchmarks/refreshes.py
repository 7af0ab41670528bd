"""The tables of TPC-H, and sets of changes to them.

TPC-H uses the first eight of each 32 order keys. New orders take the keys after them.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from tidemark.base.errors import TidemarkError

COLUMNS = {
    "region": "r_regionkey bigint, r_name string, r_comment string",
    "nation": "n_nationkey bigint, n_name string, n_regionkey bigint, n_comment string",
    "supplier": "s_suppkey bigint, s_name string, s_address string, s_nationkey bigint, s_phone string, "
    "s_acctbal decimal(15,2), s_comment string",
    "customer": "c_custkey bigint, c_name string, c_address string, c_nationkey bigint, c_phone string, "
    "c_acctbal decimal(15,2), c_mktsegment string, c_comment string",
    "part": "p_partkey bigint, p_name string, p_mfgr string, p_brand string, p_type string, p_size int, "
    "p_container string, p_retailprice decimal(15,2), p_comment string",
    "partsupp": "ps_partkey bigint, ps_suppkey bigint, ps_availqty int, ps_supplycost decimal(15,2), "
    "ps_comment string",
    "orders": "o_orderkey bigint, o_custkey bigint, o_orderstatus string, o_totalprice decimal(15,2), "
    "o_orderdate date, o_orderpriority string, o_clerk string, o_shippriority int, o_comment string",
    "lineitem": "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, "
    "l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), "
    "l_returnflag string, l_linestatus string, l_shipdate date, l_commitdate date, l_receiptdate date, "
    "l_shipinstruct string, l_shipmode string, l_comment string",
}
PROPERTIES = "'delta.enableChangeDataFeed' = 'true'"
PROGRAM = "tpchgen-cli"


@dataclass(frozen=True)
class Refresh:
    """A set of changes.

    Attributes:
        name: its name in the report.
        changes: what changes.
        statements: the SQL statements, with the schema as `{bronze}`.
    """

    name: str
    changes: str
    statements: tuple[str, ...]


def generate(scale: float, folder: Path) -> None:
    """Generate the tables as parquet files.

    Args:
        scale: the scale factor; 1 is about six million lineitems.
        folder: where to write the files.

    Raises:
        TidemarkError: if tpchgen-cli is not installed.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise TidemarkError(
            f"{PROGRAM} is not installed.", f"Run `pip install {PROGRAM}` in an environment on the PATH."
        )
    words = ["parquet", "--quiet", "--overwrite", "--scale-factor", f"{scale}", "--output-dir", str(folder)]
    subprocess.run([program, *words], check=True)


def load(spark: SparkSession, folder: Path, bronze: str) -> dict[str, int]:
    """Load the files into Delta tables with a change data feed, and return the rows of each table."""
    spark.sql(f"create schema {bronze}")
    rows = {}
    for table, columns in COLUMNS.items():
        declared = ", ".join(f"{column} not null" for column in columns.split(", "))
        spark.sql(f"create table {bronze}.{table} ({declared}) using delta tblproperties ({PROPERTIES})")
        listed = ", ".join(
            f"cast({name} as {kind}) as {name}" for name, kind in map(str.split, columns.split(", "))
        )
        spark.sql(f"insert into {bronze}.{table} select {listed} from parquet.`{folder}/{table}.parquet`")
        rows[table] = spark.table(f"{bronze}.{table}").count()
    return rows


def apply(spark: SparkSession, bronze: str, refresh: Refresh, *, nth: int = 0) -> None:
    """Apply a set of changes; each statement is one commit.

    Args:
        spark: the session.
        bronze: the schema of the tables.
        refresh: the set.
        nth: how often it was applied before; each time it changes other rows.
    """
    for statement in refresh.statements:
        spark.sql(statement.format(bronze=bronze, nth=nth))


def _some(key: str, salt: str, one_in: int = 1000) -> str:
    """Return a condition for a part of the rows of the first load."""
    condition = f"pmod(xxhash64({key}, '{salt}'), {one_in}) = {{nth}}"
    return f"{condition} and {key} % 32 < 8" if key.endswith("orderkey") else condition


def _copied(salt: str, shift: int, days: int = 0) -> tuple[str, ...]:
    """Return statements that insert copies of some orders under new keys, with earlier dates if asked for."""
    dates = ("o_orderdate", "l_shipdate", "l_commitdate", "l_receiptdate")
    statements = []
    for table in ("orders", "lineitem"):
        key = f"{table[0]}_orderkey"
        values = []
        for column in COLUMNS[table].split(", "):
            name = column.split()[0]
            new = {key: f"{name} + {shift}"} | dict.fromkeys(dates, f"date_sub({name}, {days})")
            values.append(f"{new.get(name, name)} as {name}")
        statements.append(
            f"insert into {{bronze}}.{table} select {', '.join(values)} from {{bronze}}.{table} "
            f"where {_some(key, salt)}"
        )
    return tuple(statements)


def _merged(table: str, key: str, salt: str, values: str) -> str:
    """Return a MERGE that gives some rows new values."""
    keys = f"{key}, l_linenumber" if table == "lineitem" else key
    on = " and ".join(f"present.{name} = incoming.{name}" for name in keys.split(", "))
    return (
        f"merge into {{bronze}}.{table} as present using (select {keys} from {{bronze}}.{table} "
        f"where {_some(key, salt)}) as incoming on {on} when matched then update set {values}"
    )


WARM_UP = Refresh("warm-up", "as the first set", _copied("warm-up", 24))
REFRESHES = (
    Refresh("new orders", "0.1 % more orders with their lineitems (RF1)", _copied("new", 8)),
    Refresh(
        "deleted orders",
        "0.1 % of the orders are deleted, with their lineitems (RF2)",
        tuple(
            f"delete from {{bronze}}.{table} where {_some(f'{table[0]}_orderkey', 'deleted')}"
            for table in ("lineitem", "orders")
        ),
    ),
    Refresh(
        "late and moved",
        "0.1 % new orders, two years back; 0.1 % of the orders get another date, price and customer; "
        "0.1 % of the lineitems other dates, discounts",
        (
            *_copied("late", 16, 730),
            _merged(
                "orders", "o_orderkey", "moved",
                "o_orderdate = date_add(present.o_orderdate, 40), o_totalprice = present.o_totalprice + 9, "
                "o_custkey = greatest(present.o_custkey - 1, 1), o_comment = 'special, with many requests'",
            ),
            _merged(
                "lineitem", "l_orderkey", "shipped",
                "l_shipdate = date_add(present.l_shipdate, 30), l_discount = 0.10 - present.l_discount, "
                "l_receiptdate = date_add(present.l_receiptdate, 40), l_returnflag = 'R'",
            ),
        ),
    ),
    Refresh(
        "the other tables",
        "1 % of the customers, suppliers, parts and prices of suppliers change",
        (
            "update {bronze}.customer set c_nationkey = (c_nationkey + 1) % 25, "
            "c_acctbal = 5000 - c_acctbal, c_mktsegment = 'BUILDING' "
            f"where {_some('c_custkey', 'changed', 100)}",
            "update {bronze}.supplier set s_nationkey = (s_nationkey + 1) % 25, "
            f"s_comment = 'Customer Complaints' where {_some('s_suppkey', 'changed', 100)}",
            "update {bronze}.part set p_brand = 'Brand#23', p_container = 'MED BOX', p_size = 15, "
            f"p_name = concat('forest green ', p_name) where {_some('p_partkey', 'changed', 100)}",
            "update {bronze}.partsupp set ps_supplycost = ps_supplycost + 10, "
            f"ps_availqty = ps_availqty div 2 where {_some('ps_partkey', 'changed', 100)}",
        ),
    ),
)  # fmt: skip
