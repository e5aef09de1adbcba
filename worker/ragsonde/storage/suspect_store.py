"""How often the work on a message was begun without an end: `ports.SuspectStore` in Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.jsonb import clean_text
from ragsonde.storage.retries import Retries
from ragsonde.storage.tables import SuspectRow

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.ports import Clock


class PostgresSuspectStore:
    """Counts starts in Postgres, so that a count outlives the process that the message kills."""

    def __init__(self, engine: Engine, *, clock: Clock, retries: Retries | None = None) -> None:
        self._engine = engine
        self._clock = clock
        self._retries = retries or Retries()

    def start(self, message_key: str) -> int:
        """The number of starts so far, this one included, committed before the work begins.

        Raises:
            DatabaseLostError: it is counted or not.
        """
        now = self._clock.now()
        statement = (
            insert(SuspectRow)
            .values(message_key=clean_text(message_key), starts=1, started_at=now)
            .on_conflict_do_update(
                index_elements=["message_key"], set_={"starts": SuspectRow.starts + 1, "started_at": now}
            )
            .returning(SuspectRow.starts)
        )

        def attempt() -> int:
            with translating_losses(), self._engine.begin() as connection:
                return connection.execute(statement).scalar_one()

        return self._retries.insist(attempt)

    def clear(self, message_key: str) -> None:
        """Forgets a message that was worked on to its end.

        Raises:
            DatabaseLostError: it may be remembered still; its row expires.
        """
        statement = delete(SuspectRow).where(SuspectRow.message_key == clean_text(message_key))

        def attempt() -> None:
            with translating_losses(), self._engine.begin() as connection:
                connection.execute(statement)

        self._retries.insist(attempt)
