"""Create the tables of Hive's metastore in PostgreSQL, once, before the first session uses it.

Hive can create them while it works, one by one in the middle of its transactions. On PostgreSQL such a
statement waits for the lock of Hive's own open transaction, for ever. So the tool of DataNucleus, which is
the library below Hive's metastore, creates all of them first.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path

import pyspark

from tidemark.base.connections import Connection
from tidemark.base.databases import jdbc
from tidemark.base.errors import TidemarkError
from tidemark.lake.metastore import METASTORE, connected, metastore
from tidemark.lake.table_locks import STATE_WAIT, locked
from tidemark.spark.jars import FOLDER, java
from tidemark.spark.java_properties import write_properties

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
TOOL = "org.datanucleus.store.schema.SchemaTool"
FACTORY = "org.datanucleus.api.jdo.JDOPersistenceManagerFactory"
CLASSES = "package.jdo"
A_TABLE = "DBS"  # Hive's table of schemas


def prepare_catalog() -> None:
    """Create Hive's tables if the catalog is shared and its database has none.

    Raises:
        TidemarkError: if they cannot be created.
    """
    to = metastore()
    if to is None or _is_there(to):
        return
    with locked("hive's schema", seconds=STATE_WAIT):
        if not _is_there(to):  # another process may have created them
            _create(to)


def _is_there(to: Connection) -> bool:
    with connected(to) as connection:
        found = connection.execute("select to_regclass(%s)", [f'"{A_TABLE}"']).fetchone()
        return bool(found and found[0])


def _create(to: Connection) -> None:
    url, driver = jdbc(to)
    with tempfile.TemporaryDirectory(prefix="tidemark-hive-") as folder:
        with zipfile.ZipFile(next(SPARK_JARS.glob("hive-metastore-*.jar"))) as jar:
            jar.extract(CLASSES, folder)
        settings = {
            "javax.jdo.PersistenceManagerFactoryClass": FACTORY,
            "javax.jdo.option.ConnectionURL": url,
            "javax.jdo.option.ConnectionDriverName": driver["driver"],
            "javax.jdo.option.ConnectionUserName": driver["user"],
            "javax.jdo.option.ConnectionPassword": driver["password"],
            "datanucleus.identifierFactory": "datanucleus1",  # as Hive names its tables
            "datanucleus.rdbms.useLegacyNativeValueStrategy": "true",
        }
        properties = Path(folder) / "datanucleus.properties"
        write_properties(properties, settings)
        class_path = f"{SPARK_JARS}/*:{FOLDER.absolute()}/*"
        command = [java(), "-cp", class_path, TOOL, "-create", "-api", "JDO", "-props", str(properties)]
        done = subprocess.run(
            [*command, f"{folder}/{CLASSES}"], capture_output=True, text=True, check=False, cwd=folder
        )
        if not _is_there(to):
            message = to.redacted((done.stdout + done.stderr).strip()[-300:])
            raise TidemarkError(
                f"Hive's tables could not be created: {message}",
                f"The user of {METASTORE} needs the right to create tables in the schema `public`.",
            )
