"""Tables as of a run: `--vars 'as_of: RUN'` (decision 0033)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from dbt.adapters.base.meta import available
from dbt.adapters.spark.relation import SparkRelation

from tidemark.base.errors import TidemarkError
from tidemark.engine.adapter.locks import WITHOUT_SPARK, as_errors_of_dbt
from tidemark.engine.adapter.once import Once, once
from tidemark.engine.adapter.recording import RecordingAdapter

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation
    from dbt.adapters.spark.column import SparkColumn

    from tidemark.engine.runs.past import Past, Reading

AS_OF = "as_of"
READING = ("show", "compile", "test")


@dataclass(frozen=True, eq=False, repr=False)
class PastRelation(SparkRelation):
    """A table or view that `ref()` or `source()` names, as of a run.

    Attributes:
        past: what stands for it in FROM; None for relations that are not read, such as `this`.
        version: the version that is read; None for a view, too.
    """

    past: Optional[str] = None
    version: Optional[int] = None

    def __str__(self) -> str:
        if self.past is None or self.limit is not None:
            return super().__str__()
        return self.render_event_time_filtered(self.past)


class PastAdapter(RecordingAdapter):
    """The part of the adapter whose relations read the past if the command's variables name a run.

    Only what `ref()` and `source()` give is changed, and without the variable nothing is.
    """

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._as_of: Any = getattr(config, "cli_vars", {}).get(AS_OF)
        self._known: dict[str, Once] = {}
        if self._as_of is not None:
            with as_errors_of_dbt():
                _refuse(self._as_of)
            self.Relation = _relations_of(self)

    @available
    def reads_past(self) -> bool:
        """Return whether this command reads tables as of a run."""
        return self._as_of is not None

    @available
    def past_end(self) -> int:
        """Return when the run ended as of which tables are read, in microseconds since 1970."""
        with as_errors_of_dbt():
            return self._past().run.ended

    def past_reading(self, table: str) -> Reading:
        """Return how a table or view (`schema.name`) is read.

        Raises:
            DbtRuntimeError: if it cannot be read as of the run.
        """
        with as_errors_of_dbt():
            reading: Reading = once(self._known, table, lambda: self._past().reading(table))
        return reading

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """Return the columns of a table, as of the run if it is read so."""
        past = getattr(relation, "past", None)
        if past is None:
            return super().get_columns_in_relation(relation)
        rows = self._rows(f"describe query select * from {past}")
        return [self.Column(column=row["col_name"], dtype=row["data_type"]) for row in rows]

    def _past(self) -> Past:
        from tidemark.engine.project import own_schema
        from tidemark.engine.runs.past import Past

        def look() -> Past:
            if not self.config.credentials.has_one_session:
                raise TidemarkError(
                    f"The variable {AS_OF} needs a session, and the target has none.",
                    "Choose a target with `method: session` with DBT_TARGET: docs/targets.md.",
                )
            schema = own_schema(self.get_macro_resolver(), "ops_schema")
            return Past(self._session(), schema, self._as_of)

        past: Past = once(self._known, "", look)
        return past


def _refuse(as_of: Any) -> None:
    """Stop a command that writes, and a run's name that YAML took for a number.

    Raises:
        TidemarkError: in these cases.
    """
    from dbt.flags import get_flags

    flags: Any = get_flags()  # type: ignore[no-untyped-call]
    command = getattr(flags, "WHICH", None)
    if command not in (None, *READING, *WITHOUT_SPARK):
        raise TidemarkError(
            f"`dbt {command}` does not run with the variable {AS_OF}: the lake as of a run can only be read.",
            f"Leave {AS_OF} out, or read with `dbt show`, `dbt compile` or `dbt test`.",
        )
    if not isinstance(as_of, str) or not as_of:
        raise TidemarkError(
            f"`{AS_OF}` must be a quoted run id; got {as_of!r}.",
            f"""Put it in quotes: --vars '{{"{AS_OF}": "3f2a91c4"}}'.""",
        )


def _relations_of(adapter: PastAdapter) -> type[PastRelation]:
    """Return the class of an adapter's relations: those that are read know their versions."""

    class Relation(PastRelation):
        @classmethod
        def create_from(cls, quoting: Any, relation_config: Any, **options: Any) -> Any:
            relation = super().create_from(quoting, relation_config, **options)
            # dbt gives a limit, perhaps None, for what a query reads; not for `this`, nor while it parses
            if "limit" not in options or relation.is_function:
                return relation
            reading = adapter.past_reading(f"{relation.schema}.{relation.identifier}")
            return relation.replace(past=reading.sql, version=reading.version)

    return Relation
