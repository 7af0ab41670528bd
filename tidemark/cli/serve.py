"""`tidemark serve`: a Spark Connect server for the lake, in the foreground."""

from __future__ import annotations

import signal
from contextlib import ExitStack, suppress
from typing import Annotated

import typer

from tidemark.base.errors import TidemarkError
from tidemark.base.interrupts import on_interrupt
from tidemark.base.output import output
from tidemark.cli.opening import opened
from tidemark.engine.dbt_core.profiles import settings_of_server
from tidemark.lake.place import lake_location
from tidemark.spark.hive_schema import prepare_catalog
from tidemark.spark.jars import check_jars
from tidemark.spark.server.common import ServerEndedError, answers
from tidemark.spark.server.connect import PORT, address_of, spark_connect


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The server's port on 127.0.0.1.")] = 15002,
) -> None:
    """Run a Spark Connect server for the lake until Ctrl-C, so that dbt commands need not start Spark."""
    root = opened(starts_spark=False).root
    settings = settings_of_server(root)
    check_jars(settings, root)
    prepare_catalog()
    if answers(port):
        raise TidemarkError(
            f"Port {port} is taken: another program listens there.",
            "Choose another one with `tidemark serve --port …`.",
        )
    log = root / "logs" / "spark_connect.log"
    log.parent.mkdir(exist_ok=True)
    try:
        with on_interrupt(signal.default_int_handler), suppress(KeyboardInterrupt), ExitStack() as servers:
            with output.status("starting Spark"):
                process = servers.enter_context(spark_connect(settings, port, log))
            _say(port)
            process.wait()
            raise ServerEndedError
    except ServerEndedError as error:
        raise TidemarkError(
            "The Spark Connect server stopped unexpectedly.", f"See {log} for the reason."
        ) from error


def _say(port: int) -> None:
    address = "" if port == PORT else f"TIDEMARK_CONNECT={address_of(port)} "
    output.text(
        f"Spark Connect serves {lake_location()} at {address_of(port)}. In another shell: "
        f"`{address}DBT_TARGET=connect dbt run`. Ctrl-C ends it.",
        "serving",
        address=address_of(port),
    )
