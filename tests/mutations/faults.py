"""One fault for each promise (docs/promises.md): a change of the code that breaks it."""

from __future__ import annotations

from dataclasses import dataclass

LAND, LAKE = "tests/python_ingest/", "tests/lakehouse/"


@dataclass(frozen=True)
class Fault:
    """A change of one place.

    Attributes:
        promise: how the promise begins in the table there.
        file: the file that is changed.
        old, new: the text that stands there once, and what is put in its place.
        test: what must fail, as pytest has it; `make lint` for a rule of the project.
        at_night: whether only the nightly form of the test can notice it.
    """

    promise: str
    file: str
    old: str
    new: str
    test: str
    at_night: bool = False


FAULTS = (
    Fault(
        "a Spark Connect server and a Thrift server",
        "tidemark/engine/adapter/models.py",
        "        if not self.config.credentials.has_one_session:\n            # a Thrift",
        "        if False:\n            # a Thrift",
        f"{LAKE}test_servers.py",
        at_night=True,  # a Connect server has one session, too
    ),
    Fault(
        "a query without a key, or one that no single step maintains",
        "tidemark/engine/writing/bags.py",
        "({stays} union all {gained})",
        "({gained})",
        "tests/tidemark/engine/incremental/test_bags.py",
    ),
    Fault(
        "a query without a key, or one that no single step maintains",
        "tidemark/engine/decision/stages.py",
        "now.version if [each.table_version for each in newest] == [now.version] else None",
        "now.version",
        "tests/tidemark/engine/decision/test_stages.py",
    ),
    Fault(
        "the table of a plain query equals",
        "tidemark/engine/incremental/laterals.py",
        "if isinstance(function, COUNTS):",
        "if False:",
        "tests/tidemark/engine/incremental/test_laterals.py",
    ),
    Fault(
        "a topic of Kafka lands each message once",
        "python_ingest/bronze/table.py",
        "refresh(self._spark, self.name)  # rows",
        "pass  # rows",
        f"{LAND}kafka/test_landing.py",
    ),
    Fault(
        "a file lands exactly once",
        "tidemark/lake/table_format.py",
        '.option("txnAppId", writer).option("txnVersion", number)',
        "",
        f"{LAND}test_landing.py::test_delta_skips_a_batch_that_it_has",
    ),
    Fault(
        "rows that bronze lost are noticed",
        "tidemark/lake/delta_log.py",
        'removes = removes or json.loads(line)["remove"]["dataChange"]',
        "removes = False",
        f"{LAND}test_lost_rows.py::test_the_landing_stops_where_landed_rows_are_gone",
    ),
    Fault(
        "values that are rescued are counted",
        "python_ingest/files/confirmation.py",
        "if any(number.rescued for number in of_files):",
        "if False:",
        f"{LAND}test_typed_values.py::test_json_values_that_do_not_fit_are_counted",
    ),
    Fault(
        "a feed that fails for any cause",
        "python_ingest/land.py",
        "raise unexpected(feed.name, feed.declared_in, error) from error",
        "raise",
        f"{LAND}test_isolation.py::test_other_feeds_land",
    ),
    Fault(
        "broken records are kept",
        "python_ingest/ops/rejected_records.py",
        "update set replayed_batch = {batch.batch_id}",
        "update set replayed_batch = null",
        f"{LAND}test_quarantine.py",
    ),
    Fault(
        "new, missing and changed columns",
        "python_ingest/bronze/contract.py",
        "        elif target.field:\n",
        "        elif False:\n",
        f"{LAND}test_contract.py::test_policies_for_new_and_missing_columns_of_csv",
    ),
    Fault(
        "for any content of a file",
        "python_ingest/files/formats/csv.py",
        "return f.contains(line, quote) & might_be & ~f.rlike(line, closed)",
        "return f.lit(False)",
        "tests/fuzz/test_fuzz.py",
    ),
    Fault(
        "files in an object store",
        "python_ingest/files/storage.py",
        "self.root = f\"{str(self._root.toString()).rstrip('/')}/\"",
        'self.root = f"{str(self._root.toString()).rstrip(\'/\')}/".replace("s3a://", "s3://")',
        f"{LAND}test_object_store.py",
    ),
    Fault(
        "a table of PostgreSQL lands each change once",
        "python_ingest/postgresql/window.py",
        'self._place = sql.SQL("({}, {})").format(self._cursor, _identifiers(external.key))',
        'self._place = sql.SQL("({}, {})").format(self._cursor, self._cursor)',
        f"{LAND}postgresql/test_landing.py",
    ),
    Fault(
        "a topic of Kafka lands each message once",
        "python_ingest/kafka/landing.py",
        '.option("failOnDataLoss", str(not self._accepts_loss).lower())',
        '.option("failOnDataLoss", "false")',
        f"{LAND}kafka/test_landing.py",
    ),
    Fault(
        "a live shop is followed for days",
        "python_ingest/postgresql/window.py",
        'conditions = [sql.SQL("{} >= {}").format(sql.Identifier(name), low) for name, low in self._lows()]',
        "conditions: list[sql.Composable] = []",
        f"{LAKE}test_shop.py",
    ),
    Fault(
        "gold of the shop is the database's own answer",
        "models/gold/shop/daily_product_sales.sql",
        "    where not _is_deleted\n",
        "",
        f"{LAKE}test_shop_models.py",
    ),
    Fault(
        "readers of a topic killed",
        "tests/fixtures/shop/models/silver/device_events.sql",
        "order by ingest_ts desc",
        "order by ingest_ts",
        "tests/kills/test_stream.py",
    ),
    Fault(
        "the simulated shop and devices",
        "dev/simulators/rng.py",
        "Random(seed)",
        "Random()",
        "tests/dev/simulators",
    ),
    Fault(
        "`tidemark add` writes what lints and builds",
        "tidemark/scaffold/templates/feed/rejected.sql",
        "rejections('staged')",
        "rejections('stage')",
        "tests/tidemark/scaffold/test_scaffold.py",
    ),
    Fault(
        "accepted and rejected rows come from one staging model",
        "tidemark/engine/adapter/staged.py",
        "rows=str(changes(relation))",
        "rows=str(relation)",
        f"{LAKE}test_staging_models.py",
    ),
    Fault(
        "CSV in any encoding",
        "python_ingest/files/formats/csv_header.py",
        "MARKS.get(mark) or _ordered(options.encoding, content.head)",
        'MARKS.get(mark) or "utf-8"',
        f"{LAND}test_formats.py",
    ),
    Fault(
        "archives, workbooks and large arrays",
        "python_ingest/ops/batch.py",
        "source if source in planned else file_of(source)",
        "source",
        f"{LAND}test_packed.py",
    ),
    Fault(
        "new files are found by path",
        "python_ingest/files/backlog.py",
        "newest - timedelta(seconds=external.overlap)",
        "newest + timedelta(seconds=1)",
        f"{LAND}test_discovery.py",
    ),
    Fault(
        "nothing new commits nothing",
        "tidemark/engine/writing/outcomes.py",
        "when {_same(target)} then 'unchanged'",
        "when false then 'unchanged'",
        f"{LAKE}test_medallion.py::test_files_sent_again_under_other_names_and_in_another_order_change_nothing",
    ),
    Fault(
        "incremental tables equal a full rebuild",
        "tidemark/engine/verify/verify.py",
        "verdict.differing = len(rows) if len(rows) <= MAX_ROWS_SHOWN else differing.count()",
        "verdict.differing = 0",
        f"{LAKE}test_medallion.py::test_verify_proves_every_table_and_finds_a_tampered_row",
    ),
    Fault(
        "after every batch of a random history",
        "tidemark/engine/writing/outcomes.py",
        "then 'superseded' else 'updated'",
        "then 'updated' else 'updated'",
        f"{LAKE}test_histories.py",
    ),
    Fault(
        "a source deleted from, rebuilt, replaced",
        "tidemark/engine/decision/losses.py",
        "    if not now.has(checkpoint):\n",
        "    return None\n    if not now.has(checkpoint):\n",
        "tests/tidemark/engine/decision/test_losses.py",
    ),
    Fault(
        "newest wins, tombstones, no random winner",
        "tidemark/engine/writing/outcomes.py",
        "        __tidemark_copies = 1,\n",
        "        true,\n",
        f"{LAKE}test_merging.py::test_two_rows_of_one_key_stop_the_run",
    ),
    Fault(
        "change records give the current state",
        "dbt/include/tidemark/macros/change_records/validity.sql",
        "1 following), null) as valid_to",
        "current row), null) as valid_to",
        f"{LAKE}test_change_records.py",
    ),
    Fault(
        "on hand is what movements add up to",
        "models/gold/inventory/inventory_on_hand.sql",
        "\n    where not _is_deleted",
        "",
        f"{LAKE}test_inventory.py",
    ),
    Fault(
        "snapshots hold each state",
        "snapshots/shop/customers_snapshot.sql",
        "check_cols=['name', 'email']",
        "check_cols=['name']",
        f"{LAKE}test_shop_models.py",
    ),
    Fault(
        "data tests look at what changed",
        "tidemark/engine/decision/windows.py",
        "    return since(whole, now, checkpoint.version)\n",
        "    return since(whole, now, last - 1)\n",
        "tests/tidemark/engine/decision/test_windows.py",
    ),
    Fault(
        "a late event rewrites the files of its own day alone",
        "models/silver/devices/device_events.sql",
        "partition_by='event_date'",
        "partition_by='battery'",
        f"{LAKE}test_devices.py",
    ),
    Fault(
        "the whole project gives the same on Iceberg",
        "dbt/include/tidemark/macros/formats/iceberg/guards.sql",
        "{% do found.update({expression: 'its contract says `'",
        "{% do {}.update({expression: 'its contract says `'",
        f"{LAKE}test_iceberg.py",
    ),
    Fault(
        "what a model has not read for weeks",
        "tidemark/spark/spark.yml",
        'enforceTimeTravelWithinDeletedFileRetentionDuration: "false"',
        'enforceTimeTravelWithinDeletedFileRetentionDuration: "true"',
        f"{LAKE}test_reading.py::test_versions_not_read_for_weeks_are_kept",
    ),
    Fault(
        "changed SQL, macros and variables",
        "tidemark/engine/decision/rebuilds.py",
        "    if choice == IGNORE:",
        "    if True:",
        "tests/tidemark/engine/decision/test_reading.py",
    ),
    Fault(
        "a new column of a model gets its values",
        "dbt/include/tidemark/macros/materializations/rebuild_columns.sql",
        "{% if counts.other %}",
        "{% if false %}",
        f"{LAKE}test_rebuilt_columns.py::test_a_change_of_more_than_the_columns_is_refused",
    ),
    Fault(
        "a row is followed to the rows that it was made from",
        "tidemark/engine/why/lowest.py",
        "if shape.hides(node.outputs[one]) is None",
        "if True",
        "tests/tidemark/engine/why",
    ),
    Fault(
        "the table of a plain query equals",
        "tidemark/engine/incremental/shape.py",
        "if not _is_of(expression, keys):",
        "if False:",
        "tests/tidemark/engine/incremental/test_random_queries.py::test_a_wrong_rewrite_is_found",
    ),
    Fault(
        "a model in plain dbt SQL",
        "tidemark/engine/writing/plans.py",
        "Batch(rows, DELETED), views=found.views)",
        "Batch(rows), views=found.views)",
        f"{LAKE}test_plain_models.py::test_a_plain_model_is_what_a_rebuild_gives",
    ),
    Fault(
        "a model in plain dbt SQL",
        "tidemark/engine/incremental/join_order.py",
        "if tables_of(part) <= joined]",
        "if tables_of(part) == joined]",
        "tests/tidemark/engine/incremental/test_join_order.py::test_changed_rows_are_joined_first",
    ),
    Fault(
        "a run deletes no row that Tidemark did not write",
        "dbt/include/tidemark/macros/materializations/refuse_loss.sql",
        "{% if number %}",
        "{% if false %}",
        f"{LAKE}test_ways.py::test_rows_of_other_writers_stay",
    ),
    Fault(
        "a table that was changed by hand",
        "tidemark/engine/decision/losses.py",
        "        if commit.is_foreign and",
        "        if False and",
        "tests/tidemark/engine/decision/test_reading.py",
    ),
    Fault(
        "SQL and values that no rebuild gives",
        "tidemark/engine/sqlcheck/rules.py",
        "if aggregates := aggregates_of(select):",
        "if False:",
        "tests/tidemark/engine/sqlcheck/test_sqlcheck.py",
    ),
    Fault(
        "a run is undone",
        "tidemark/lake/versions_by_format.py",
        'with signed(self._spark, f"{BY_UNDO}{undo}"):',
        'with signed(self._spark, "tidemark"):',
        f"{LAKE}test_undo.py::test_a_killed_undo_is_completed_or_corrected",
    ),
    Fault(
        "the lake is read as of a run",
        "tidemark/engine/runs/past.py",
        "if table in self._seen:",
        "if False:",
        f"{LAKE}test_reproduce.py::test_the_lake_is_read_as_of_a_run",
    ),
    Fault(
        "compaction",
        "tidemark/maintain/maintenance.py",
        "unread = unread_by(spark, table, readers, horizon)",
        "unread: list[str] = []",
        f"{LAKE}test_maintenance.py",
    ),
    Fault(
        "a batch whose tests fail in an audit is never in the table",
        "dbt/include/tidemark/macros/materializations/commit_change.sql",
        "{% do dbt.tidemark__audit(change.audit.gained, change.audit.whole, change.audit.batch) %}",
        "",
        f"{LAKE}test_audit.py",
    ),
    Fault(
        "clustering rewrites only where files are new",
        "tidemark/maintain/clustering_by_format.py",
        'new = files.where(~f.col("tags")["ZCUBE_ZORDER_BY"].eqNullSafe(mark))',
        "new = files",
        f"{LAKE}test_clustering.py::test_new_files_are_clustered_and_trigger_nothing[delta]",
    ),
    Fault(
        "contracts hold from the first commit on",
        "dbt/include/tidemark/macros/formats/delta/guards.sql",
        "{% do properties.update({'delta.constraints.' ~ name: expression}) %}",
        "",
        f"{LAKE}test_contracts.py",
    ),
    Fault(
        "every column is described and typed",
        "models/gold/purchases/_gold_purchases__models.yml",
        "description: One row per week",
        "about: One row per week",
        "make lint",
    ),
    Fault(
        "`kill -9` of Python and JVM",
        "python_ingest/files/landing.py",
        'there was one."""\n        batch = self._ingested_files.unfinished()\n',
        'there was one."""\n        batch = None\n',
        "tests/kills/test_kills.py::test_nothing_is_lost_or_doubled[written but not confirmed]",
    ),
    Fault(
        "a cluster with a killed worker",
        "tidemark/spark/spark.yml",
        'spark.jars: "{{ jars }}"',
        'spark.jars: ""',
        f"{LAKE}test_cluster.py",
        at_night=True,
    ),
    Fault(
        "runs and landings send OpenLineage events",
        "tidemark/engine/runs/lineage/sending.py",
        "    except Exception as error:",
        "    except KeyError as error:",
        "tests/tidemark/engine/runs/test_lineage.py::test_events_go_to_a_server_and_a_lost_one_is_one_warning",
    ),
    Fault(
        "processes that share a catalog",
        "tidemark/lake/table_locks.py",
        "select pg_try_advisory_lock(%s::bigint)",
        "select %s::bigint is not null",
        "tests/tidemark/lake/test_table_locks.py",
    ),
    Fault(
        "an erased person is in no table",
        "tidemark/maintain/delta_cut.py",
        "if number < present)",
        "if number < present - 9)",
        f"{LAKE}test_erase_sources.py",
    ),
    Fault(
        "a row of an erased person that a table or a topic still has",
        "python_ingest/postgresql/landing.py",
        "self._land_batch([self._bronze.admission.of_others(rows), *waiting], after, outcome)",
        "self._land_batch([rows, *waiting], after, outcome)",
        f"{LAKE}test_erase_sources.py",
    ),
    Fault(
        "personal columns land as hashes",
        "python_ingest/bronze/pseudonyms.py",
        'f.col("_corrupt_record").isNotNull(), f.lit(NOT_KEPT)',
        'f.col("_corrupt_record").isNotNull(), f.col("_corrupt_record")',
        "tests/tidemark/operate/test_erase.py",
    ),
    Fault(
        "a month of broken lines, killed runs, a full disk",
        "tidemark/cli/maintain.py",
        'return [*project.tables, *(f"{project.ops_schema}.{name}" for name in STATE_TABLES)]',
        "return list(project.tables)",
        "tests/month",
    ),
    Fault(
        "`tidemark report` shows the numbers",
        "tidemark/operate/report/state_tables.py",
        "where state = 'landed' \"",
        "where state = 'planned' \"",
        f"{LAKE}test_report.py",
    ),
    Fault(
        "a report is one page",
        "tidemark/operate/report/page.py",
        "autoescape=True",
        "autoescape=False",
        "tests/tidemark/operate/test_report.py",
    ),
    Fault(
        "two runs at once",
        "tidemark/lake/lock.py",
        "fcntl.flock(lock, how | fcntl.LOCK_NB)",
        "pass",
        "tests/tidemark/cli/test_cli.py",
    ),
    Fault(
        "Dagster runs the steps in order",
        "python_ingest/files/arrivals.py",
        "digest.update(repr(file).encode())",
        "pass",
        f"{LAND}test_arrivals.py",
    ),
    Fault(
        "`tidemark doctor` finds what is broken",
        "tidemark/operate/doctor/jars.py",
        "if is_deep and not is_sound(folder / jar.file_name, jar)",
        "if is_deep and False",
        "tests/tidemark/operate/doctor/test_jars.py",
    ),
)
