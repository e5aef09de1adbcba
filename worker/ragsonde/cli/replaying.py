"""Replays parked messages one by one: each published again, confirmed, and marked."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from ragsonde.cli.parked_advice import INCOMPLETE
from ragsonde.intake.topology import BACKFILL, TRACES
from ragsonde.intake.work_message import find_replay, read_key
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.reopening import Reopening
from ragsonde.storage.replaying import holding_parked
from ragsonde_schemas.errors import BrokerLostError, ParkReason
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.open_record import OpenRecordKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Engine

    from ragsonde.intake.publisher import Publisher
    from ragsonde.intake.work_message import WorkKey
    from ragsonde.storage.replaying import MessageInHand
    from ragsonde_schemas.history import ParkedMessage

NO_KEY = "it came on the work queue and is none of our work messages: no worker can read it; drop it"
NOTHING_KEPT = "whom it names was erased, and nothing of it is kept"
OUT_OF_BACKFILL = "as a producer's message: its backfill neither counts nor bounds it any more"
TAKEN = "it is in other hands, or was replayed or dropped meanwhile"

_LOOK_SECONDS = 0.2

_REFUSED = {
    Reopening.EXPIRED: "its texts have been dropped by retention, so nobody can judge it",
    Reopening.SUPERSEDED: "a newer revision of its trace counts instead",
}


class Done(StrEnum):
    """What was done with a message."""

    PUBLISHED = "published"
    REFUSED = "refused"
    TAKEN = "taken"
    ERASED = "erased"


class ReplayedMessage(NamedTuple):
    """A message and what was done with it.

    Attributes:
        told: in words; '' where there is nothing to add.
    """

    message: ParkedMessage
    done: Done
    told: str = ""


class Replays:
    """Replays over one broker and one database.

    Args:
        engine: where messages are parked.
        publisher: to the broker that they came from.
        queued_seconds: for so long the sweeper leaves to the queue what was opened again.
        takes_all: also those that were replayed or dropped already.
        now: tells the time.
    """

    def __init__(
        self,
        engine: Engine,
        publisher: Publisher,
        *,
        queued_seconds: int,
        takes_all: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._publisher = publisher
        self._queued_seconds = queued_seconds
        self._takes_all = takes_all
        self._now = now

    def run(self, messages: Iterable[ParkedMessage], *, rate: float | None) -> Iterator[ReplayedMessage]:
        """Each message with what was done, at most `rate` a second.

        Raises:
            BrokerLostError: this message was not confirmed, and is not marked; those before it are.
            DatabaseLostError: this message may have been published, and is not marked.
        """
        begun = time.monotonic()
        for number, message in enumerate(messages):
            if rate is not None:
                time.sleep(max(0.0, begun + number / rate - time.monotonic()))
            yield self.replay(message)

    def replay(self, message: ParkedMessage) -> ReplayedMessage:
        """What was done with a message.

        Raises: as `run`.
        """
        if not message.is_replayable:
            done = (Done.ERASED, NOTHING_KEPT) if message.is_erased else (Done.REFUSED, INCOMPLETE)
            return ReplayedMessage(message, *done)
        with holding_parked(self._engine, message.id, takes_all=self._takes_all) as held:
            if held is None:
                return ReplayedMessage(message, Done.TAKEN, TAKEN)
            found = find_replay(held.envelope, is_dead_letter=message.reason is ParkReason.DEAD_LETTER)
            if found is not None:
                self._publisher.publish_again(found)
                held.mark_replayed(now=self._now())
                is_let_out = held.envelope.queue == BACKFILL and found.queue == TRACES
                return ReplayedMessage(message, Done.PUBLISHED, OUT_OF_BACKFILL if is_let_out else "")
            try:
                key = read_key(held.envelope)
            except ValidationError:
                return ReplayedMessage(message, Done.REFUSED, NO_KEY)
            refusal = self._reopen(held, key)
            if refusal is not None:
                return ReplayedMessage(message, Done.REFUSED, refusal)
            held.mark_replayed(now=self._now())
        # only now: a worker that is faster than the commit would find nothing to do
        return self._publish_work(message, key)

    def _reopen(self, held: MessageInHand, key: WorkKey) -> str | None:
        """Why there is nothing to do again; None where there is, and it may be done now."""
        now, seconds = self._now(), self._queued_seconds
        if isinstance(key, EvaluationKey):
            reopening = held.reopen_evaluation(key, now=now, queued_seconds=seconds)
            gone = "its evaluation is not stored any more"
        elif isinstance(key, OpenRecordKey):
            reopening = held.reopen_spans(key.trace_id, now=now, queued_seconds=seconds)
            gone = "its spans are not kept any more (retention_days.span): have the trace sent again"
        else:
            return None
        return gone if reopening is Reopening.GONE else _REFUSED.get(reopening)

    def _publish_work(self, message: ParkedMessage, key: WorkKey) -> ReplayedMessage:
        try:
            self._publisher.publish_work([key])
        except BrokerLostError as error:
            # it is due in Postgres: nothing is lost, it only comes later
            return ReplayedMessage(message, Done.PUBLISHED, f"the monitor will bring it to a worker: {error}")
        return ReplayedMessage(message, Done.PUBLISHED)


def find_returned(
    engine: Engine,
    ids: Sequence[int],
    *,
    seconds: float,
    sleep: Callable[[float], None] = time.sleep,
) -> list[int]:
    """Which of the published messages are parked again for the same reason, at the latest after `seconds`.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    ends_at = time.monotonic() + seconds
    while True:
        returned = (
            sorted(one.id for one in select_parked(engine, ParkedChoice(ids=tuple(ids)))) if ids else []
        )
        if len(returned) == len(ids) or time.monotonic() >= ends_at:
            return returned
        sleep(min(_LOOK_SECONDS, max(0.0, ends_at - time.monotonic())))
