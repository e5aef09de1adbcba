"""How often the work on a message was begun without an end: `ports.SuspectStore` in Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Integer, cast, delete
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.jsonb import clean_text
from ragsonde.storage.retries import Retries
from ragsonde.storage.tables import SuspectRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine


class PostgresSuspectStore:
    """Counts starts in Postgres, so that a count outlives the process that the message kills."""

    def __init__(self, engine: Engine, *, retries: Retries | None = None) -> None:
        self._engine = engine
        self._retries = retries or Retries()

    def start(self, message_key: str, *, received_at: datetime) -> int:
        """The number of starts so far, this delivery's included, committed before the work begins.

        Args:
            message_key: whose.
            received_at: when this delivery came.

        Raises:
            DatabaseLostError: it is counted or not; asked again for the same delivery, it counts once.
        """
        statement = (
            insert(SuspectRow)
            .values(message_key=clean_text(message_key), starts=1, started_at=received_at)
            .on_conflict_do_update(
                index_elements=["message_key"],
                set_={
                    "starts": SuspectRow.starts + cast(SuspectRow.started_at != received_at, Integer),
                    "started_at": received_at,
                },
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
