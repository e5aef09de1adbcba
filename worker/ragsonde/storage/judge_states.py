"""What all workers know of judges, in Postgres: pauses, and which model's epoch it is."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.judge_tables import JudgeStateRow
from ragsonde_schemas.errors import RagsondeError
from ragsonde_schemas.judge_state import JudgeState

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

PAUSE = timedelta(seconds=60)
"""So long a paused judge is left alone before one worker tries it."""
REFRESH = timedelta(seconds=5)
LONGEST_MESSAGE = 500
_KEY = ("judge", "fingerprint")


class PostgresJudgeStates:
    """Where judges stand, shared by all workers; read again every 5 s.

    It never raises: while Postgres is away, what was read last holds, and a judge of which nothing is known
    is not paused.

    Args:
        engine: of this process.
        clock: whose times are stored and compared.
        pause: how long a paused judge is left alone.
    """

    def __init__(self, engine: Engine, *, clock: Clock, pause: timedelta = PAUSE) -> None:
        self._engine = engine
        self._clock = clock
        self._pause = pause
        self._lock = threading.Lock()
        self._states: dict[tuple[str, str], JudgeState] = {}
        self._read_at: dict[tuple[str, str], datetime] = {}

    def find(self, judge: str, fingerprint: str) -> JudgeState:
        """The state of a judge's model, at most 5 s old."""
        key, now = (judge, fingerprint), self._clock.now()
        with self._lock:
            read_at = self._read_at.get(key)
            is_stale = read_at is None or not timedelta() <= now - read_at < REFRESH
            if is_stale:
                self._read_at[key] = now
        if is_stale:
            self._read(key)
        return self._states.get(key) or JudgeState(judge=judge, fingerprint=fingerprint)

    def pause(self, judge: str, fingerprint: str, *, message: str) -> None:
        """Pauses it for all workers, until a probe succeeds."""
        now = self._clock.now()
        row = JudgeStateRow
        statement = insert(row).values(
            judge=judge,
            fingerprint=fingerprint,
            paused_since=now,
            paused_until=now + self._pause,
            pause_message=message[:LONGEST_MESSAGE],
        )
        changed = {
            "paused_since": func.coalesce(row.paused_since, statement.excluded.paused_since),
            "paused_until": statement.excluded.paused_until,
            "pause_message": statement.excluded.pause_message,
        }
        upsert = statement.on_conflict_do_update(index_elements=_KEY, set_=changed)
        paused = self._write((judge, fingerprint), upsert.returning(row.paused_since))
        if paused and paused[0][0] == now:
            logger.warning(
                "judge_model_paused", extra={"judge": judge, "fingerprint": fingerprint, "told": message}
            )

    def take_probe(self, judge: str, fingerprint: str) -> bool:
        """True for the one worker that may try a paused judge now: it moves the pause on first."""
        now = self._clock.now()
        known = self._states.get((judge, fingerprint))
        if known is not None and known.paused_until is not None and known.paused_until > now:
            return False
        row = JudgeStateRow
        statement = (
            update(row)
            .where(row.judge == judge, row.fingerprint == fingerprint, row.paused_until <= now)
            .values(paused_until=now + self._pause)
            .returning(row.judge)
        )
        return bool(self._write((judge, fingerprint), statement))

    def resume(self, judge: str, fingerprint: str) -> None:
        """Ends the pause."""
        row = JudgeStateRow
        statement = (
            update(row)
            .where(row.judge == judge, row.fingerprint == fingerprint)
            .values(paused_since=None, paused_until=None, pause_message=None)
        )
        self._write((judge, fingerprint), statement)
        logger.info("judge_model_resumed", extra={"judge": judge, "fingerprint": fingerprint})

    def _read(self, key: tuple[str, str]) -> None:
        row = JudgeStateRow
        query = select(
            row.judge,
            row.fingerprint,
            row.epoch,
            row.answered_model,
            row.paused_until,
            row.pause_message,
        ).where(row.judge == key[0], row.fingerprint == key[1])
        try:
            with translating_losses(), self._engine.connect() as connection:
                found = connection.execute(query).mappings().one_or_none()
        except RagsondeError as error:
            logger.warning("judge_state_not_read", extra={"judge": key[0], "error": type(error).__name__})
            return
        if found is not None:
            self._states[key] = JudgeState(**found)

    def _write(self, key: tuple[str, str], statement: Any) -> list[Any]:  # noqa: ANN401 - insert or update
        try:
            with translating_losses(), self._engine.begin() as connection:
                result = connection.execute(statement)
                rows = list(result.all()) if result.returns_rows else []
        except RagsondeError as error:
            logger.warning("judge_state_not_written", extra={"judge": key[0], "error": type(error).__name__})
            return []
        with self._lock:
            self._read_at.pop(key, None)
        return rows


def read_paused(engine: Engine) -> frozenset[tuple[str, str]]:
    """Judge and fingerprint of every model that is paused.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = JudgeStateRow
    query = select(row.judge, row.fingerprint).where(row.paused_until.is_not(None))
    with translating_losses(), engine.connect() as connection:
        return frozenset((judge, fingerprint) for judge, fingerprint in connection.execute(query))
