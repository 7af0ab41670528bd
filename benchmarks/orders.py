"""The benchmark's bronze table: orders that grow by days; each value is a hash of the order's id."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

LAST_DAY = "date '2024-12-31'"
DAYS_PER_SCALE = 10


@dataclass
class Orders:
    """Orders of `scale * 10` days that end on the same last day at every scale.

    Attributes:
        spark: the session.
        table: the bronze table.
        scale: the multiple of ten days.
        rows_per_scale: orders in ten days; at every scale, the number of customers is a third of this.
        appended: number of appended increments.
    """

    spark: SparkSession
    table: str
    scale: int
    rows_per_scale: int
    appended: int = 0

    @property
    def rows(self) -> int:
        """Orders in the first load."""
        return self.scale * self.rows_per_scale

    @property
    def days(self) -> int:
        """Days in the first load."""
        return self.scale * DAYS_PER_SCALE

    @property
    def new_rows(self) -> int:
        """New orders in one increment; it has the same number of updates."""
        return self.rows_per_scale // 30

    @property
    def _per_day(self) -> int:
        return self.rows_per_scale // DAYS_PER_SCALE

    def create(self) -> None:
        """Create the table with its first load, in files of ten days, ordered by time."""
        self.spark.sql(f"create schema if not exists {self.table.split('.', maxsplit=1)[0]}")
        self.spark.sql(
            f"create table {self.table} (order_id bigint, customer_id bigint, order_date date, quantity int, "
            "amount decimal(12,2), updated_at timestamp, _batch_id bigint, _row_number bigint) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')"
        )
        self._insert(
            f"""
            select
                id as order_id,
                id div {self._per_day} as day,
                id % {self._per_day} * 86400 div {self._per_day} as second,
                0 as edition,
                id div {self._per_day} + 1 as _batch_id,
                id % {self._per_day} as _row_number
            from range(0, {self.rows}, 1, {self.scale})
            """
        )

    def append(self, *, late: bool = False) -> None:
        """Append one increment: new orders on the last day, and updates of orders of the last two days.

        Each increment updates orders that no other increment updates, with later times than all before.

        Args:
            late: whether the rows have the times of the first increment, as rows that arrive late do.

        Raises:
            ValueError: after so many increments that no orders are left to update.
        """
        new, number = self.new_rows, self.appended
        stride = 2 * self._per_day // new
        if number >= stride:
            raise ValueError(f"At most {stride} increments have orders of their own.")
        self._insert(
            f"""
            select
                order_id,
                least(order_id div {self._per_day}, {self.days - 1}) as day,
                ({self.days} - day) * 86400 + {0 if late else number} * 3600 + _row_number % 3600 as second,
                {number + 1} as edition,
                {self.days + number + 1}L as _batch_id,
                _row_number
            from (
                select {self.rows + number * new} + id as order_id, id as _row_number
                from range(0, {new}, 1, 1)
                union all
                select {self.rows - 2 * self._per_day + number} + id * {stride}, id + {new}
                from range(0, {new}, 1, 1)
            )
            """
        )
        self.appended += 1

    def _insert(self, rows: str) -> None:
        """Insert rows from their id, day (from 0), second after the day's start and edition of the values."""
        date = f"unix_date({LAST_DAY}) + day - {self.days - 1}"
        self.spark.sql(
            f"""
            insert into {self.table}
            select
                order_id,
                pmod(xxhash64(order_id, 'customer'), {self.rows_per_scale // 3}) as customer_id,
                date_from_unix_date(cast({date} as int)) as order_date,
                cast(1 + pmod(xxhash64(order_id, 'quantity', edition), 5) as int) as quantity,
                cast(pmod(xxhash64(order_id, 'amount', edition), 20000) / 100 as decimal(12, 2)) as amount,
                timestamp_seconds(({date}) * 86400 + second) as updated_at,
                _batch_id,
                _row_number
            from ({rows})
            """
        )
