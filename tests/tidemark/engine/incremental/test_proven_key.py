"""The key that a query proves by itself, without Spark."""

from __future__ import annotations

import pytest

from tests.tidemark.engine.incremental.test_safety import Log
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.proven_key import proven_key

pytestmark = pytest.mark.R2
KNOWN = {"a.log": ["ID"]}


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("select day, message, count(*) as n from a.log group by day, message", ("day", "message")),
        ("select date_trunc('week', day) as week, count(*) as n from a.log group by 1", ("week",)),
        ("select day, max(n) as n from (select day, id as n from a.log) group by all", ("day",)),
        ("select count(*) as n from a.log group by day", None),
        ("select count(*) as n from a.log", None),
        ("select day, count(*) as n from a.log group by day, rollup(message)", None),
        ("select day, explode(collect_list(id)) as id from a.log group by day", None),
        ("select distinct day, message from a.log", ("day", "message")),
        ("select day from a.log union select day from a.log", ("day",)),
        ("select id from a.log union all select id from a.log", None),
        ("select id as log_id, message from a.log where day is not null", ("log_id",)),
        ("with logs as (select * from a.log) select * from logs", ("id",)),
        ("select id, row_number() over (partition by day order by at) as place from a.log", ("id",)),
        ("select message from a.log", None),
        ("select id + 1 as id from a.log", None),
        ("select id, explode(array(1, 2)) as one from a.log", None),
        ("select l.id from a.log as l join a.log as r on l.day = r.day", None),
        ("select l.id from a.log as l left semi join a.log as r on l.day = r.day", ("id",)),
        ("select l.id from a.log as l join a.log as r on l.day = r.id", None),  # of another type
        ("select l.id from a.log as l join a.log as r on l.id = r.id", ("id",)),
        ("select l.id from a.log as l left join a.log as r on l.id = r.id and r.day is null", ("id",)),
        ("select l.id from a.log as l, a.log as r where l.id = r.id", ("id",)),
        ("select r.id from a.log as l left join a.log as r on l.id = r.id", None),  # NULL several times
        ("select r.id from a.log as l join a.log as r on l.id = r.id", ("id",)),
        ("select l.id from a.log as l right join a.log as r on l.id = r.id", None),
        ("select l.id from a.log as l full join a.log as r on l.id = r.id", None),
        ("select l.id from a.log as l join a.log as r on l.id = r.id or l.day = r.day", None),
        (
            "select l.id from a.log as l left join a.log as m on l.id = m.id join a.log as r on m.id = r.id",
            ("id",),
        ),
        ("select l.id from a.log as l join a.log as m on true join a.log as r on m.id = r.id", None),
        (
            "select l.id, n from a.log as l left join (select id, count(*) as n from a.log group by id) as c "
            "on c.id = l.id",
            ("id",),
        ),
    ],
)
def test_a_query_proves_its_key(sql: str, key: tuple[str, ...] | None) -> None:
    """R2.2: by its groups, by DISTINCT, or by the key of the table whose rows it gives once."""
    assert proven_key(parse(sql, Log()).tree, KNOWN) == key


def test_a_table_without_a_key_gives_none() -> None:
    """R2.2: nothing says that its rows differ."""
    assert proven_key(parse("select * from a.log", Log()).tree, {}) is None
