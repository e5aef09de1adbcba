"""Stored traces of releases: one is stored as a worker does, many are copies of it by SQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from fakes.clock import FakeClock
from ragsonde.storage.partitions import ensure_day
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.tables import EvaluationRow, ScoreRow, TraceRow
from services.block_ground import BlockGround

if TYPE_CHECKING:
    from sqlalchemy import Engine

_COPIED = (TraceRow, EvaluationRow, ScoreRow)
_MOMENTS = frozenset({"occurred_at", "admitted_at", "created_at"})


class ReleaseGround:
    """A real Postgres with traces until now; scores are of `fakes.evaluations`: one scored, one failed."""

    def __init__(self, engine: Engine, now: datetime | None = None) -> None:
        self.engine = engine
        self.now = now or datetime.now(UTC)
        self.ground = BlockGround(engine, FakeClock(self.now))
        self._stored = 0

    def store(
        self,
        release: str,
        raw: float,
        *,
        traces: int,
        ago: timedelta = timedelta(hours=2),
        over: timedelta = timedelta(hours=1),
        **fields: Any,  # noqa: ANN401 - of a trace
    ) -> str:
        """So many traces, from so long ago on, spread over a span; the id that all of theirs begin with."""
        self._stored += 1
        seed = f"r-{self._stored}"
        begun_at = self.now - ago
        given = {"release": release, "environment": "production", "occurred_at": begun_at, **fields}
        self.ground.admit(seed, raw=raw, **given)
        for day in range((over // timedelta(days=1)) + 2):
            ensure_day(self.engine, day=begun_at.date() + timedelta(days=day), tables=PARTITIONED)
        self._copy(seed, copies=traces - 1, step=over / traces)
        return seed

    def change(self, statement: str, **columns: Any) -> None:  # noqa: ANN401 - any value
        with self.engine.begin() as connection:
            connection.execute(text(statement), columns)

    def _copy(self, seed: str, *, copies: int, step: timedelta) -> None:
        columns = {"seed": seed, "copies": copies, "step": step}
        moved = "+ n * CAST(:step AS interval)"
        with self.engine.begin() as connection:
            for row in _COPIED:
                names = [column.name for column in row.__table__.columns]
                values = [
                    {
                        "trace_id": "s.trace_id || '-' || n",
                        "day": f"CAST((t.occurred_at {moved}) AT TIME ZONE 'UTC' AS date)",
                    }.get(name, f"s.{name} {moved}" if name in _MOMENTS else f"s.{name}")
                    for name in names
                ]
                connection.execute(
                    text(
                        f"INSERT INTO {row.__tablename__} ({', '.join(names)}) "  # noqa: S608 - constants
                        f"SELECT {', '.join(values)} FROM {row.__tablename__} s "
                        "JOIN trace t ON t.trace_id = s.trace_id, generate_series(1, :copies) n "
                        "WHERE s.trace_id = :seed"
                    ),
                    columns,
                )
