"""Classes of the JVM by name.

`spark._jvm.org.apache…` asks the JVM for each word, which looks for a class of that name in all jars: about
a millisecond a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class, for its constructors and static methods; nothing is asked of the JVM.

    Args:
        spark: a session with a JVM.
        name: the full name, such as `java.lang.Runtime`.
    """
    gateway: Any = spark.sparkContext._gateway
    return JavaClass(name, gateway._gateway_client)


def each(iterator: Any) -> Iterator[Any]:
    """Yield the elements of a JVM iterator."""
    while iterator.hasNext():
        yield iterator.next()


@contextmanager
def silent_console(spark: SparkSession) -> Iterator[None]:
    """Keep what Scala code of this thread prints from the standard output; Delta's VACUUM prints a line.

    Args:
        spark: a session with a JVM.
    """
    scala = java_class(spark, "java.lang.Class").forName("scala.Console$")
    variable = scala.getDeclaredField("outVar")
    variable.setAccessible(True)
    out = variable.get(scala.getField("MODULE$").get(None))
    before, set_out = out.value(), getattr(out, "value_$eq")
    nowhere = java_class(spark, "java.io.OutputStream").nullOutputStream()
    set_out(java_class(spark, "java.io.PrintStream")(nowhere))
    try:
        yield
    finally:
        set_out(before)


def is_of_missing_file(error: Py4JJavaError) -> bool:
    """Return whether the JVM did not find a file."""
    return str(error.java_exception.getClass().getSimpleName()) == "FileNotFoundException"
