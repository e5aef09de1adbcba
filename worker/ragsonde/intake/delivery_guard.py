"""The outermost handler around every task: wait for a lost database, park what fails, blame what crashes."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ragsonde_schemas.errors import DatabaseLostError, ParkReason, RagsondeError, RepeatedCrashError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from ragsonde.ports import Isolation, ParkingStore, ScoreSink, SuspectStore
    from ragsonde_schemas.envelope import Envelope

logger = logging.getLogger(__name__)

T = TypeVar("T")

STARTS_BEFORE_PARKING = 2
"""Counted starts of a redelivered message; its first one was not counted, so the third start is parked."""

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0


class PatienceEndedError(RagsondeError):
    """Postgres stayed away for longer than a delivery may be kept; the process must end."""


class StoppingError(RagsondeError):
    """The process is stopping and cannot finish a delivery soon; it goes back to the broker."""


def log_trace_fault(error: Exception, trace_id: str) -> None:
    """Logs an exception that one trace met, while the others of its message went on."""
    logger.error("trace_failed", exc_info=error, extra={"trace_id": trace_id})


@dataclass
class _Start:
    """Which start of its message this delivery is; None until it was counted."""

    number: int | None = None


def _strip(envelope: Envelope) -> Envelope:
    """What names a message and tells its size, with nothing of what its producer wrote."""
    return envelope.model_copy(
        update={
            "body": b"",
            "headers": {},
            "message_id": None,
            "content_type": None,
            "content_encoding": None,
            "names": None,
        }
    )


class DeliveryGuard:
    """Runs the work of a delivery so that it ends in one known way.

    Args:
        patience_seconds: how long a delivery is kept while Postgres is away; far below the broker's
            consumer_timeout of 30 minutes.
        stopping: set when the process is asked to stop.
        on_database: told False when Postgres is lost and True when it is back.
        monotonic: tells seconds that only grow.
    """

    def __init__(
        self,
        *,
        parking: ParkingStore,
        suspects: SuspectStore,
        sink: ScoreSink,
        isolation: Isolation,
        stopping: threading.Event,
        patience_seconds: float = 600.0,
        on_database: Callable[[bool], None] = lambda _is_back: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parking = parking
        self._suspects = suspects
        self._sink = sink
        self._isolation = isolation
        self._stopping = stopping
        self._patience_seconds = patience_seconds
        self._on_database = on_database
        self._monotonic = monotonic

    def run_ingest(self, envelope: Envelope, work: Callable[[], None]) -> None:
        """Works on a foreign message; one that was delivered before is a suspect and runs alone.

        When this returns, the delivery may be acked.

        Raises:
            PatienceEndedError, StoppingError: the delivery must stay unacked.
        """
        if not envelope.redelivered:
            self._keep_trying(lambda: self._run_shared(envelope, work))
            return
        start = _Start()
        self._keep_trying(lambda: self._run_alone(envelope, work, start))

    def run_work(self, envelope: Envelope, work: Callable[[], None], *, is_further: bool = False) -> None:
        """Works on one of our own messages; the evaluation it names counts its own starts.

        Args:
            envelope: names the work.
            work: what to do.
            is_further: of a delivery that some work was done for: a process that stops does not begin it, so
                that it ends after its longest evaluation and not after the sum of them.

        Raises:
            PatienceEndedError, StoppingError: the delivery must stay unacked.
        """
        if is_further and self._stopping.is_set():
            raise StoppingError("stopping between two evaluations of one delivery")
        self._keep_trying(lambda: self._run_or_park(envelope, work))

    def insist(self, action: Callable[[], T]) -> T:
        """What the action returns, tried again for as long as the database is away.

        For what must not be begun anew, such as committing verdicts that were paid for.

        Raises:
            PatienceEndedError, StoppingError: the delivery must stay unacked.
        """
        return self._keep_trying(action)

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str) -> None:
        """Parks a message, waiting for the database where it is away."""
        self._keep_trying(lambda: self._park(envelope, reason=reason, message=message))

    def _run_shared(self, envelope: Envelope, work: Callable[[], None]) -> None:
        with self._isolation.hold(alone=False):
            self._run_or_park(envelope, work)

    def _run_alone(self, envelope: Envelope, work: Callable[[], None], start: _Start) -> None:
        with self._isolation.hold(alone=True):
            if start.number is None:
                # once a delivery: trying again after a lost database is no new start
                start.number = self._suspects.start(envelope.message_key, received_at=envelope.received_at)
            if start.number >= STARTS_BEFORE_PARKING:
                message = "the process died twice while it worked on this message; it is not started again"
                self._park(envelope, reason=ParkReason.REPEATED_CRASH, message=message)
            else:
                self._run_suspect(envelope, work)
            self._suspects.clear(envelope.message_key)

    def _run_suspect(self, envelope: Envelope, work: Callable[[], None]) -> None:
        try:
            self._run_or_park(envelope, work)
        except StoppingError:
            # the process does not end because of it; where Postgres is away the start stays counted
            with suppress(DatabaseLostError):
                self._suspects.clear(envelope.message_key)
            raise

    def _run_or_park(self, envelope: Envelope, work: Callable[[], None]) -> None:
        try:
            work()
        except (DatabaseLostError, PatienceEndedError, StoppingError):
            raise
        except RepeatedCrashError as error:
            self._park(envelope, reason=ParkReason.REPEATED_CRASH, message=str(error))
        except Exception as error:
            logger.exception("delivery_failed", extra={"message_key": envelope.message_key})
            message = (
                f"{type(error).__name__} while working on the message; see the log event delivery_failed"
            )
            self._park(envelope, reason=ParkReason.INTERNAL_ERROR, message=message)

    def _park(self, envelope: Envelope, *, reason: ParkReason, message: str) -> None:
        try:
            is_new = self._parking.park(envelope, reason=reason, message=message, where="body")
        except (DatabaseLostError, PatienceEndedError, StoppingError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the delivery is acked after this
            kind = type(error).__name__
            fields = {"message_key": envelope.message_key, "error": kind}
            logger.error("parking_failed", extra=fields)  # noqa: TRY400 - its words may hold content
            is_new = self._parking.park(
                _strip(envelope), reason=reason, message=f"{message}; not kept: {kind}", where="body"
            )
        tell = self._sink.on_parked if is_new else self._sink.on_parked_again
        tell(reason)

    def _keep_trying(self, attempt: Callable[[], T]) -> T:
        begun, pause_seconds, has_lost = self._monotonic(), _FIRST_PAUSE_SECONDS, False
        while True:
            try:
                result = attempt()
            except DatabaseLostError as error:
                has_lost = True
                self._on_database(False)
                waited_seconds = self._monotonic() - begun
                logger.warning("database_lost", extra={"waited_seconds": waited_seconds, "error": str(error)})
                if waited_seconds >= self._patience_seconds:
                    raise PatienceEndedError(
                        f"Postgres was away for {waited_seconds:.0f} s; a delivery is kept no longer"
                    ) from error
                if self._stopping.wait(pause_seconds):
                    raise StoppingError("stopping while Postgres is away") from error
                pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
            else:
                if has_lost:
                    self._on_database(True)
                return result
