"""The state of models and runs: the only reader and writer of `ops.runs` and of its two views.

`rows` has its typed rows and what is decided from them, `layout` the SQL that creates, changes, reads and
writes the table. `state` runs this SQL in a session. Macros ask the adapter, which runs the same SQL in dbt's
connection. Only `tidemark erase` changes rows: it removes messages and variables that quote a person.
"""
