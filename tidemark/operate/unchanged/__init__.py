"""Whether a run would repeat the last one, seen without Spark and without dbt.

A run that changed nothing changes nothing again, as long as all that it read is the same: the files of its
feeds, the project, its settings, and the lake. `tidemark run` then ends at once. Whatever cannot be compared
that way, such as a topic or a query that reads the clock, is an obstacle: the run is not remembered.
"""
