"""The tables and queries of TPC-DS from DuckDB's extension, the queries as models, and sets of changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sqlglot
from pyspark.sql import SparkSession
from sqlglot import exp

NAME = "tpcds"
BRONZE = f"{NAME}_bronze"
SALES = {"store": "ss_ticket_number", "catalog": "cs_order_number", "web": "ws_order_number"}
RETURNS = {"store": "sr_ticket_number", "catalog": "cr_order_number", "web": "wr_order_number"}
SETS = {
    "new sales": (
        "2 % of the sales again under other numbers, with their returns",
        tuple(
            f"insert into {{bronze}}.{channel}_{kind} by name "
            f"select * except ({key}), {key} + 10000000 as {key} "
            f"from {{bronze}}.{channel}_{kind} where pmod({key}, 50) = 7"
            for kind, keys in (("sales", SALES), ("returns", RETURNS))
            for channel, key in keys.items()
        ),
    ),
    "deleted and changed": (
        "1 % of the sales are deleted, prices and quantities of 1 % change; customers move, an item gets "
        "another brand and price, a day another month",
        (
            *(
                f"delete from {{bronze}}.{channel}_{kind} where pmod({key}, 100) = 3"
                for kind, keys in (("sales", SALES), ("returns", RETURNS))
                for channel, key in keys.items()
            ),
            "update {bronze}.store_sales set ss_quantity = ss_quantity + 1, "
            "ss_sales_price = ss_sales_price + 1, ss_net_profit = ss_net_profit - 1 "
            "where pmod(ss_ticket_number, 100) = 11",
            "update {bronze}.catalog_sales set cs_quantity = cs_quantity + 1, "
            "cs_ext_sales_price = cs_ext_sales_price + 1 where pmod(cs_order_number, 100) = 11",
            "update {bronze}.web_sales set ws_quantity = ws_quantity + 1, "
            "ws_ext_sales_price = ws_ext_sales_price + 1 where pmod(ws_order_number, 100) = 11",
            "update {bronze}.customer set c_current_addr_sk = pmod(c_current_addr_sk * 7, 400) + 1 "
            "where pmod(c_customer_sk, 50) = 1",
            "update {bronze}.item set i_brand = 'another brand', i_current_price = i_current_price + 3 "
            "where pmod(i_item_sk, 40) = 1",
            "update {bronze}.inventory set inv_quantity_on_hand = inv_quantity_on_hand + 5 "
            "where pmod(inv_item_sk, 40) = 3",
            "update {bronze}.date_dim set d_moy = pmod(d_moy, 12) + 1 where d_date = date '2000-02-10'",
        ),
    ),
}


def generate(scale: float, folder: Path) -> dict[str, str]:
    """Write the tables as parquet files.

    Args:
        scale: the scale factor; 1 is about 2.9 million sales in stores.
        folder: where to write them.

    Returns:
        The queries by name, in DuckDB's dialect.
    """
    import duckdb
    import duckdb_extensions

    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    duckdb_extensions.import_extension("tpcds", con=connection)
    connection.execute("load tpcds")
    connection.execute(f"call dsdgen(sf = {scale})")
    for (table,) in connection.execute("show tables").fetchall():
        connection.execute(f"copy {table} to '{folder / table}.parquet' (format parquet)")
    found = connection.execute("select query_nr, query from tpcds_queries() order by 1").fetchall()
    return {f"q{number:02}": query for number, query in found}


def load(spark: SparkSession, folder: Path) -> list[str]:
    """Load the files into Delta tables with a change data feed; return their names."""
    spark.sql(f"create schema {BRONZE}")
    names = sorted(path.stem for path in folder.glob("*.parquet"))
    for name in names:
        spark.sql(
            f"create table {BRONZE}.{name} using delta tblproperties ('delta.enableChangeDataFeed' = 'true') "
            f"as select * from parquet.`{folder}/{name}.parquet`"
        )
    return names


def model_of(query: str, tables: list[str]) -> str:
    """Return a query as the SQL of a model: its columns have names, and it reads sources.

    Args:
        query: in DuckDB's dialect.
        tables: the names of the sources.
    """
    parsed: Any = sqlglot.parse_one(query, dialect="duckdb")
    hidden = {one.alias for one in parsed.find_all(exp.CTE)}
    for table in parsed.find_all(exp.Table):
        if table.name in tables and table.name not in hidden:
            table.set("db", exp.to_identifier("source"))
    renamed: dict[str, str] = {}
    for number, one in enumerate(list(parsed.selects)) if isinstance(parsed, exp.Select) else ():
        name = one.alias or one.unnest().name
        if one.is_star:
            continue
        if not re.fullmatch(r"[a-z_]\w*", name) or name in renamed.values():
            renamed[name] = f"column_{number}"
            one.replace(exp.alias_(one.unalias().copy(), renamed[name]))
        else:
            renamed[name] = name
    order = parsed.args.get("order")
    for column in order.find_all(exp.Column) if order else ():
        if not column.table and column.name in renamed:
            column.set("this", exp.to_identifier(renamed[column.name]))
    if not parsed.args.get("limit"):
        parsed.set("order", None)
    sql = parsed.sql("spark", pretty=True)
    sql = re.sub(r"\bsource\.(\w+)", rf"{{{{ source('{NAME}', '\1') }}}}", sql)
    return re.sub(r"(?i)^(LIMIT \d+)$", r"\1 -- tidemark: allow limit: as TPC-DS has it", sql, flags=re.M)
