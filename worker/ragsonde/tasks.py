"""The tasks: each guards its delivery and hands it to the pipeline."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from celery.exceptions import Reject
from celery.worker import state as worker_state
from pydantic import ValidationError

from ragsonde.intake.delivery_guard import PatienceEndedError, StoppingError
from ragsonde.intake.trace_consumer import BURY, EVALUATE, INGEST, INGEST_FILE
from ragsonde.intake.work_message import read_backfill, read_key, wrap_key
from ragsonde.pipeline.checking import check
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde.pipeline.message_account import MessageAccount
from ragsonde.redaction.envelopes import name_harmlessly
from ragsonde_schemas.check import CheckKey
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.ledger import MessageEnd
from ragsonde_schemas.open_record import OpenRecordKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from celery import Celery

    from ragsonde.intake.delivery_guard import DeliveryGuard
    from ragsonde.intake.work_message import WorkKey
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.envelope import Envelope


def register_tasks(
    app: Celery,
    *,
    stages: Stages,
    guard: DeliveryGuard,
    in_flight: Callable[[], AbstractContextManager[None]],
    reads_files: Callable[[int], bool] = lambda _number: False,
) -> None:
    """Adds the tasks to the app: ingest, of producers and of a backfill's files, evaluate, and bury.

    Args:
        app: Celery's.
        stages: the path.
        guard: around every piece of work.
        in_flight: counts a delivery while it is worked on.
        reads_files: whether there is a backfill of that number that takes traces of files in.
    """
    work = _Work(stages=stages, guard=guard)

    def take_message(envelope: Envelope, *, backfill_id: int | None = None) -> None:
        envelope = name_harmlessly(envelope, stages.privacy)
        account = MessageAccount(stages.sink)
        path = replace(stages, backfill_id=backfill_id)
        with in_flight(), _unacked_when_stopping(on_return=lambda: account.close(MessageEnd.RETURNED)):
            run = _Evaluations(guard).run
            work_off = partial(ingest, envelope, path, run=run, account=account)
            guard.run_ingest(envelope, work_off)
            # what ingest did not settle the guard has parked
            account.close(MessageEnd.PARKED)

    def take_file(envelope: Envelope) -> None:
        with in_flight(), _unacked_when_stopping():
            number, message = _find_backfill(envelope, lambda n: guard.insist(lambda: reads_files(n)))
        if number is None:
            refuse_file(message)
        else:
            take_message(message, backfill_id=number)

    def refuse_file(envelope: Envelope) -> None:
        envelope = name_harmlessly(envelope, stages.privacy)
        account = MessageAccount(stages.sink)
        message = "found no backfill of files of the number in this message; only ragsonde publishes them"
        with in_flight(), _unacked_when_stopping(on_return=lambda: account.close(MessageEnd.RETURNED)):
            guard.park(envelope, reason=ParkReason.INVALID_MESSAGE, message=message)
            account.close(MessageEnd.PARKED)

    def take_work(envelope: Envelope) -> None:
        with in_flight(), _unacked_when_stopping():
            try:
                key = read_key(envelope)
            except ValidationError:
                message = "found no key in this work message; only ragsonde publishes them"
                guard.park(envelope, reason=ParkReason.INVALID_MESSAGE, message=message)
            else:
                work.run(envelope, key)

    def take_dead_letter(envelope: Envelope) -> None:
        envelope = name_harmlessly(envelope, stages.privacy)
        message = f"dead-lettered by the broker: {envelope.headers.get('x-death', 'no x-death header')}"
        with in_flight(), _unacked_when_stopping():
            guard.park(envelope, reason=ParkReason.DEAD_LETTER, message=message)

    app.task(name=INGEST, shared=False)(take_message)
    app.task(name=INGEST_FILE, shared=False)(take_file)
    app.task(name=EVALUATE, shared=False)(take_work)
    app.task(name=BURY, shared=False)(take_dead_letter)


def _find_backfill(envelope: Envelope, reads_files: Callable[[int], bool]) -> tuple[int | None, Envelope]:
    """The backfill that takes a message of a file, None where there is none, and the message."""
    try:
        number, message = read_backfill(envelope)
    except ValueError:
        return None, envelope
    return (number, message) if reads_files(number) else (None, envelope)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What a work message may name, each under the guard."""

    stages: Stages
    guard: DeliveryGuard

    def run(self, envelope: Envelope, key: WorkKey) -> None:
        match key:
            case CheckKey():
                self.guard.run_work(envelope, partial(check, key, self.stages))
            case OpenRecordKey():
                self.guard.run_work(envelope, partial(self.close, key))
            case EvaluationKey():
                self.evaluate(key)

    def evaluate(self, key: EvaluationKey) -> None:
        _Evaluations(self.guard).run(key, partial(evaluate, key, self.stages))

    def close(self, key: OpenRecordKey) -> None:
        evaluations = _Evaluations(self.guard)
        for evaluation in close_record(key, self.stages):
            evaluations.run(evaluation, partial(evaluate, evaluation, self.stages))


class _Evaluations:
    """Those of one delivery, each under the guard; a process that stops begins none after the first."""

    def __init__(self, guard: DeliveryGuard) -> None:
        self._guard = guard
        self._has_begun = False

    def run(self, key: EvaluationKey, work: Callable[[], None]) -> None:
        self._guard.run_work(wrap_key(key), work, is_further=self._has_begun)
        self._has_begun = True


@contextmanager
def _unacked_when_stopping(on_return: Callable[[], None] = lambda: None) -> Iterator[None]:
    try:
        yield
    except StoppingError as error:
        on_return()
        raise Reject(str(error), requeue=True) from error
    except PatienceEndedError as error:
        on_return()
        worker_state.should_stop = os.EX_TEMPFAIL
        raise Reject(str(error), requeue=True) from error
