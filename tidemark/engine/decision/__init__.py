"""How a model reads and writes: decided from typed facts, without Spark and dbt (decision 0047).

- `commits.py`, `tables.py`: what is known of a table, its version, and the commits before it;
- `losses.py`: why the changes since a checkpoint do not lead to the table of a rebuild;
- `facts.py`: what the decision about one model is made from;
- `reading.py`: how the model reads all its sources, and `rebuilds.py`: whether a part of it can be rebuilt;
- `windows.py`: what it reads of each source;
- `ways.py`, `steps.py`: how its table is written;
- `costs.py`, `stages.py`: whether changes are applied or the query is computed in full; when it has stages.
"""

from tidemark.engine.decision import costs, facts, losses, reading, steps, windows

__all__ = ["costs", "facts", "losses", "reading", "steps", "windows"]
