"""What a backfill is likely to cost: what the judge has cost lately, and some traces to ask it about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.trace_rows import SELECT_TRACE, list_key_columns, rebuild_trace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde_schemas.backfill import Candidate
    from ragsonde_schemas.trace import Trace

_USUAL = """
SELECT count(*), coalesce(sum(calls), 0), coalesce(sum(tokens_in), 0) + coalesce(sum(tokens_out), 0),
    sum(cost_usd)
FROM evaluation WHERE judge = %(judge)s AND created_at >= %(since)s AND calls > 0
"""


class Usual(NamedTuple):
    """What a judge's evaluations have asked of its provider lately, all together.

    Attributes:
        cost_usd: None where no price is known.
    """

    evaluations: int
    calls: int
    tokens: int
    cost_usd: float | None


def read_usual(engine: Engine, judge: str, *, since: datetime) -> Usual:
    """What the evaluations of a judge that were born since then have cost, under whatever fingerprint.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        row = connection.execute(_USUAL, {"judge": judge, "since": since}).fetchone()
    return Usual(0, 0, 0, None) if row is None else Usual(*row)


def read_traces(engine: Engine, candidates: Iterable[Candidate]) -> tuple[Trace, ...]:
    """The traces of some revisions, as far as their texts are kept.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        cursors = [
            connection.cursor(row_factory=dict_row).execute(
                SELECT_TRACE, list_key_columns(one.key, revision=one.revision)
            )
            for one in candidates
        ]
        rows = [cursor.fetchone() for cursor in cursors]
    return tuple(rebuild_trace(row) for row in rows if row is not None and row["has_texts"])
