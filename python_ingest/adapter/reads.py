"""What Spark's tasks read, from the store that Spark's UI uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def bytes_read(spark: SparkSession, group: str) -> int:
    """Return the bytes that the jobs of a job group have read from files and from Spark's cache."""
    context: Any = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    store = context._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    total = 0
    for number in range(jobs.size()):
        job = jobs.apply(number)
        if job.jobGroup().isDefined() and job.jobGroup().get() == group:
            stages = job.stageIds()
            for index in range(stages.size()):
                total += int(store.lastStageAttempt(stages.apply(index)).inputBytes())
    return total
