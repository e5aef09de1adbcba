"""Which traces are live for people who watch: the one definition, for counts, scores, lists and the worst.

A trace belongs to the time at which it occurred, whenever it was stored. It is live unless a backfill
brought it; its evaluations are, unless a backfill added them later. What live traffic brought and a backfill
only ran once more stays live: the ledger counts it where it stands.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.table_names import REVISION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.watched import Place

AHEAD = timedelta(days=1)
"""How far a producer's clock may be ahead of ours."""

_IS_BROUGHT = """NOT b.is_added AND b.backfill_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM backfill f WHERE f.id = b.backfill_id AND f.created_at > b.created_at)"""
"""Born with its trace for a backfill that was there already; a backfill that came later ran it once more."""

OF_BACKFILL = """LEFT JOIN (SELECT id AS begun_id, created_at AS begun_at FROM backfill) f
    ON f.begun_id = e.backfill_id"""
LIVE_EVALUATION = "NOT e.is_added AND (e.backfill_id IS NULL OR f.begun_at > e.created_at)"
"""Of `evaluation e` with `OF_BACKFILL`: neither added later nor brought."""

_SAME = " AND ".join(f"b.{name} = t.{name}" for name in REVISION_KEY)
BROUGHT_TRACE = f"EXISTS (SELECT FROM evaluation b WHERE {_SAME} AND {_IS_BROUGHT})"  # constants
"""Of `trace t`: a backfill brought it."""
LIVE_TRACE = f"NOT {BROUGHT_TRACE}"

OCCURRED = "t.occurred_at >= %(since)s AND t.occurred_at < %(until)s"
OF_PLACE = "(%(app)s::text IS NULL OR (t.app = %(app)s AND t.environment = %(environment)s))"

_SETTINGS = ("SET LOCAL jit = off", "SET LOCAL work_mem = '64MB'")


class Stretch(NamedTuple):
    """From one moment to another, the first with and the second without."""

    since: datetime
    until: datetime

    @property
    def days(self) -> list[date]:
        """The days (UTC) that it touches."""
        first, last = self.since.date(), self.until.date()
        return [first + timedelta(days=offset) for offset in range((last - first).days + 1)]

    def bind(self, place: Place | None = None) -> dict[str, Any]:
        """The parameters of `OCCURRED` and `OF_PLACE`."""
        named = {"app": None, "environment": None} if place is None else place.model_dump()
        return {"since": self.since, "until": self.until, **named}


def look_back(now: datetime, span: timedelta) -> Stretch:
    """The time up to now, with what a producer's clock puts ahead of it."""
    return Stretch(now - span, now + AHEAD)


@contextmanager
def reading_days(engine: Engine) -> Iterator[Connection[TupleRow]]:
    """A transaction for statements that read many rows.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        for setting in _SETTINGS:
            connection.execute(setting)
        yield connection


def fetch(
    connection: Connection[TupleRow], statement: str, parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """The rows of a statement by the names of their columns."""
    return connection.cursor(row_factory=dict_row).execute(statement, parameters).fetchall()
