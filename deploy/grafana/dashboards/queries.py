"""What a panel asks: Prometheus or Postgres, with reference ids that never move."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.cog import builder as cog_builder
from grafana_foundation_sdk.cog import variants
from grafana_foundation_sdk.models.dashboard import DataSourceRef
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

PROMETHEUS = DataSourceRef(type_val="prometheus", uid="${prometheus}")
POSTGRES = DataSourceRef(type_val="grafana-postgresql-datasource", uid="${postgres}")
REF_IDS = "ABCDEFGH"


@dataclass(frozen=True, kw_only=True)
class PromQuery:
    """An expression.

    Attributes:
        expression: PromQL, with Grafana's variables.
        legend: how its lines are named, from labels.
        is_instant: one value for now instead of a line.
        is_heatmap: buckets by `le`.
        has_exemplars: show the traces behind it as points.
    """

    expression: str
    legend: str = ""
    is_instant: bool = False
    is_heatmap: bool = False
    has_exemplars: bool = False

    def build(self, ref_id: str, *, as_table: bool) -> prometheus.Dataquery:
        """The query as Grafana reads it."""
        query = (
            prometheus.Dataquery().datasource(PROMETHEUS).ref_id(ref_id).expr(self.expression)
        ).legend_format(self.legend or "__auto")
        query = query.instant() if self.is_instant or as_table else query.range()
        if as_table:
            query.format(PromQueryFormat.TABLE)
        elif self.is_heatmap:
            query.format(PromQueryFormat.HEATMAP)
        return query.exemplar(self.has_exemplars)


def describe_statement(sql: str, *, ref_id: str) -> dict[str, object]:
    """A statement for Postgres as Grafana reads it."""
    return {
        "refId": ref_id,
        "datasource": POSTGRES,
        "editorMode": "code",
        "format": "table",
        "rawQuery": True,
        "rawSql": sql.strip(),
    }


class _PostgresQuery(variants.Dataquery):
    """The SDK has no type for Postgres: the keys are those of Grafana's own editor in its code mode."""

    def __init__(self, sql: str, *, ref_id: str) -> None:
        self._sql, self._ref_id = sql, ref_id

    def to_json(self) -> dict[str, object]:
        return describe_statement(self._sql, ref_id=self._ref_id)


class _Built(cog_builder.Builder[variants.Dataquery]):
    """What is built already, for the SDK that wants builders."""

    def __init__(self, query: variants.Dataquery) -> None:
        self._query = query

    def build(self) -> variants.Dataquery:
        return self._query


@dataclass(frozen=True, kw_only=True)
class SqlQuery:
    """A statement for Postgres, with Grafana's variables and macros."""

    statement: str

    def build(self, ref_id: str, *, as_table: bool) -> _Built:  # noqa: ARG002 - rows are always a table
        """The query as Grafana reads it."""
        return _Built(_PostgresQuery(self.statement.strip(), ref_id=ref_id))


Query = PromQuery | SqlQuery
