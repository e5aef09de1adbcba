"""The tasks: each guards its delivery and hands it to the pipeline."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from celery.exceptions import Reject
from celery.worker import state as worker_state
from pydantic import ValidationError

from ragsonde.intake.delivery_guard import PatienceEndedError, StoppingError
from ragsonde.intake.trace_consumer import BURY, EVALUATE, INGEST
from ragsonde.intake.work_message import read_key, wrap_key
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.open_record import OpenRecordKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from celery import Celery

    from ragsonde.intake.delivery_guard import DeliveryGuard
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.evaluation import EvaluationKey


def register_tasks(
    app: Celery,
    *,
    stages: Stages,
    guard: DeliveryGuard,
    in_flight: Callable[[], AbstractContextManager[None]],
) -> None:
    """Adds the three tasks to the app: ingest, evaluate and, for dead letters, bury.

    Args:
        app: Celery's.
        stages: the path.
        guard: around every piece of work.
        in_flight: counts a delivery while it is worked on.
    """

    def run_evaluation(key: EvaluationKey) -> None:
        guard.run_work(wrap_key(key), partial(evaluate, key, stages))

    def close_and_evaluate(key: OpenRecordKey) -> None:
        for evaluation in close_record(key, stages):
            run_evaluation(evaluation)

    def take_message(envelope: Envelope) -> None:
        with in_flight(), _unacked_when_stopping():
            guard.run_ingest(envelope, partial(ingest, envelope, stages, run=run_evaluation))

    def take_work(envelope: Envelope) -> None:
        with in_flight(), _unacked_when_stopping():
            try:
                key = read_key(envelope)
            except ValidationError:
                message = "found no key in this work message; only ragsonde publishes them"
                guard.park(envelope, reason=ParkReason.INVALID_MESSAGE, message=message)
            else:
                if isinstance(key, OpenRecordKey):
                    guard.run_work(envelope, partial(close_and_evaluate, key))
                else:
                    run_evaluation(key)

    def take_dead_letter(envelope: Envelope) -> None:
        message = f"dead-lettered by the broker: {envelope.headers.get('x-death', 'no x-death header')}"
        with in_flight(), _unacked_when_stopping():
            guard.park(envelope, reason=ParkReason.DEAD_LETTER, message=message)

    app.task(name=INGEST, shared=False)(take_message)
    app.task(name=EVALUATE, shared=False)(take_work)
    app.task(name=BURY, shared=False)(take_dead_letter)


@contextmanager
def _unacked_when_stopping() -> Iterator[None]:
    try:
        yield
    except StoppingError as error:
        raise Reject(str(error), requeue=True) from error
    except PatienceEndedError as error:
        worker_state.should_stop = os.EX_TEMPFAIL
        raise Reject(str(error), requeue=True) from error
