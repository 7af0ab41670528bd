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
    ids = {
        job.stageIds().apply(index)
        for job in (jobs.apply(number) for number in range(jobs.size()))
        if job.jobGroup().isDefined() and job.jobGroup().get() == group
        for index in range(job.stageIds().size())
    }
    # a stage that was skipped is in its job, and not in this list
    nothing = context._jvm.java.util.ArrayList()
    quantiles = context._gateway.new_array(context._jvm.double, 0)
    stages = store.stageList(nothing, False, False, quantiles, nothing)
    found = (stages.apply(number) for number in range(stages.size()))
    return sum(int(stage.inputBytes()) for stage in found if stage.stageId() in ids)
