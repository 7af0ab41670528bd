"""The Spark session of this process, its settings and its jars, and servers of Spark."""
