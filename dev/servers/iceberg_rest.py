"""A catalog server with Iceberg's REST interface: Iceberg's servlet before a JDBC catalog on SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from dev.servers.programs import JARS, QUICK_JAVA, MissingServerError, free_port
from tidemark.spark.jars import FOLDER as SPARK_JARS
from tidemark.spark.jars import java

HOST = "127.0.0.1"
OWN = ("iceberg-*.jar", "httpc*5-*.jar", "caffeine-*.jar")


@contextmanager
def iceberg_rest(folder: Path, warehouse: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start a server, and stop it at the end; yield its URL.

    Args:
        folder: the folder of its database.
        warehouse: the folder or URL under which it places tables.
        settings: further properties of the catalog behind it, by name.
    """
    own = [jar for pattern in OWN for jar in sorted(JARS.glob(pattern))]
    if not own:
        raise MissingServerError("Iceberg's server is not in .servers/: `make test` fetches its jars")
    shared = [Path(pyspark.__file__).parent / "jars" / "*", *SPARK_JARS.absolute().glob("sqlite-jdbc-*.jar")]
    class_path = ":".join(map(str, own + shared))
    port, process = launch_gateway(
        classpath=class_path,
        javaopts=list(QUICK_JAVA),
        java_path=java(),
        die_on_exit=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    properties = {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": f"jdbc:sqlite:{folder / 'rest.db'}",
        "jdbc.schema-version": "V1",
        "warehouse": warehouse,
        **(settings or {}),
    }
    try:
        address = free_port()
        _serve(gateway.jvm, properties, address)
        yield f"http://{HOST}:{address}"
    finally:
        gateway.shutdown()
        process.kill()
        process.wait()


def _serve(jvm: Any, properties: Mapping[str, str], port: int) -> None:
    java_properties = jvm.java.util.HashMap()
    for name, value in properties.items():
        java_properties.put(name, value)
    iceberg, jetty = jvm.org.apache.iceberg, jvm.org.sparkproject.jetty
    catalog = iceberg.CatalogUtil.buildIcebergCatalog(
        "lakehouse", java_properties, jvm.org.apache.hadoop.conf.Configuration()
    )
    servlet = iceberg.rest.RESTCatalogServlet(iceberg.rest.RESTCatalogAdapter(catalog))
    handler = jetty.servlet.ServletContextHandler()
    handler.addServlet(jetty.servlet.ServletHolder(servlet), "/*")
    server = jetty.server.Server(jvm.java.net.InetSocketAddress(HOST, port))
    server.setHandler(handler)
    server.start()
