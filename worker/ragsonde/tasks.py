"""The tasks: each guards its delivery and hands it to the pipeline."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from celery.exceptions import Reject
from celery.worker import state as worker_state
from pydantic import ValidationError

from ragsonde.intake.delivery_guard import PatienceEndedError, StoppingError
from ragsonde.intake.trace_consumer import BURY, EVALUATE, INGEST
from ragsonde.intake.work_message import read_key, wrap_work
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde_schemas.errors import ParkReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from celery import Celery

    from ragsonde.intake.delivery_guard import DeliveryGuard
    from ragsonde.pipeline.evaluate_trace import Stages
    from ragsonde_schemas.envelope import Envelope


def register_tasks(app: Celery, *, stages: Stages, guard: DeliveryGuard) -> None:
    """Adds the three tasks to the app: ingest, evaluate and, for dead letters, bury."""

    def take_message(envelope: Envelope) -> None:
        _keep_unacked_when_stopping(lambda: guard.run_ingest(envelope, partial(ingest, envelope, stages)))

    def take_work(value: object) -> None:
        envelope = wrap_work(value)
        try:
            key = read_key(value)
        except ValidationError:
            message = "the work message names no evaluation"
            _keep_unacked_when_stopping(
                partial(guard.park, envelope, reason=ParkReason.INVALID_MESSAGE, message=message)
            )
            return
        _keep_unacked_when_stopping(lambda: guard.run_work(envelope, partial(evaluate, key, stages)))

    def take_dead_letter(envelope: Envelope) -> None:
        message = f"dead-lettered by the broker: {envelope.headers.get('x-death', 'no x-death header')}"
        _keep_unacked_when_stopping(
            partial(guard.park, envelope, reason=ParkReason.DEAD_LETTER, message=message)
        )

    app.task(name=INGEST, shared=False)(take_message)
    app.task(name=EVALUATE, shared=False)(take_work)
    app.task(name=BURY, shared=False)(take_dead_letter)


def _keep_unacked_when_stopping(work: Callable[[], None]) -> None:
    try:
        work()
    except StoppingError as error:
        raise Reject(str(error), requeue=True) from error
    except PatienceEndedError as error:
        worker_state.should_stop = os.EX_TEMPFAIL
        raise Reject(str(error), requeue=True) from error
