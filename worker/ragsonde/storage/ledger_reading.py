"""Reads the ledger in one snapshot: what must add up was counted at one moment, while traffic runs."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.ledger import select_revisions, select_states
from ragsonde.storage.ledger_checks import CHECKS
from ragsonde.storage.locks import give_way_to_migrations
from ragsonde.storage.parking_store import count_waiting
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.ledger import InvariantCheck, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import Connection, Engine

    from ragsonde_schemas.ledger import Invariant

_EXAMPLES = 5
_CLOCK_SKEW = timedelta(hours=1)
"""Two hosts' clocks write the rows of one evaluation."""
_LONG = timedelta(minutes=15)
"""Far longer than a key lies in the queue before the sweeper publishes it again."""
_SET = text(
    "SELECT set_config('statement_timeout', :timeout, true),"
    # days are joined with days: those that hold little of what is looked at cost little
    " set_config('enable_partitionwise_join', 'on', true)"
)


class LedgerReader:
    """Reads the ledger, check by check, in one snapshot.

    Args:
        engine: of this process.
        kept_days: the shortest retention of traces, evaluations and scores: older days are not compared.
        verdict_days: the retention of verdicts, where it is shorter than that; None: it is not.
        timeout_seconds: of one check.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        kept_days: int,
        verdict_days: int | None = None,
        timeout_seconds: float = 600.0,
    ) -> None:
        self._engine = engine
        self._kept_days = kept_days
        self._verdict_days = kept_days if verdict_days is None else verdict_days
        self._timeout_seconds = timeout_seconds

    @contextmanager
    def opening(self, *, now: datetime, since: datetime, app: str | None = None) -> Iterator[LedgerReading]:
        """A reading for the block, whose snapshot is taken at its begin.

        Args:
            now: of the same clock as the stores'.
            since: what was stored from then on is looked at.
            app: only its traces; '' is the unknown one, None all.

        Raises:
            DatabaseLostError: Postgres is away.
            GivenUpError: a check took too long, or a migration is under way.
        """
        columns = {
            "app": app,
            "since": since,
            "scores_since": since - _CLOCK_SKEW,
            "first_day": (now - timedelta(days=self._kept_days - 1)).date(),
            "first_verdict_day": (now - timedelta(days=self._verdict_days - 1)).date(),
            "now": now,
            "long_ago": now - _LONG,
        }
        with _snapshot(self._engine, timeout_seconds=self._timeout_seconds) as connection:
            yield LedgerReading(connection, columns)

    def read(self, *, now: datetime, since: datetime, app: str | None = None) -> Ledger:
        """All of it at once.

        Raises: as `opening`.
        """
        with self.opening(now=now, since=since, app=app) as reading:
            return reading.conclude(tuple(reading.check_all()))


class LedgerReading:
    """One reading, while its snapshot lasts."""

    def __init__(self, connection: Connection, columns: Mapping[str, Any]) -> None:
        self._connection = connection
        self._columns = columns

    def check_all(self) -> Iterator[InvariantCheck]:
        """What was found of each invariant, one after the other.

        Raises:
            GaveWayError: a migration waits for the tables that are read here.
        """
        for invariant in CHECKS:
            give_way_to_migrations(self._connection)
            yield _check(self._connection, invariant, self._columns)

    def conclude(self, checks: tuple[InvariantCheck, ...]) -> Ledger:
        """The ledger with these checks, and where every trace went."""
        since, app = self._columns["since"], self._columns["app"]
        states: dict[str, dict[EvaluationState, int]] = {}
        for judge, state, number in self._connection.execute(select_states(since=since, app=app)):
            states.setdefault(judge, {})[EvaluationState(state)] = number
        return Ledger(
            since=since,
            taken_at=self._columns["now"],
            app=app,
            revisions=self._connection.execute(select_revisions(since=since, app=app)).scalar_one(),
            states=states,
            parked=count_waiting(self._connection),
            checks=checks,
        )


@contextmanager
def _snapshot(engine: Engine, *, timeout_seconds: float) -> Iterator[Connection]:
    with translating_losses(), engine.connect() as connection:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        connection.execute(_SET, {"timeout": f"{timeout_seconds:.0f}s"})
        give_way_to_migrations(connection)
        yield connection


def _check(connection: Connection, invariant: Invariant, columns: Mapping[str, Any]) -> InvariantCheck:
    counted = text(
        f"SELECT count(*), (array_agg(DISTINCT trace_id))[1:{_EXAMPLES}]"  # noqa: S608  # constants
        f" FROM ({CHECKS[invariant]}) AS broken"
    )
    wanted = {name: value for name, value in columns.items() if name in counted.compile().params}
    violations, trace_ids = connection.execute(counted, wanted).one()
    return InvariantCheck(invariant=invariant, violations=violations, trace_ids=tuple(trace_ids or ()))
