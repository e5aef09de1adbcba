"""The Celery app: every setting that must be set, with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celery import Celery

from ragsonde.intake.backfill_feed import count_places
from ragsonde.intake.broker_urls import is_amqp_url, name_consumer_transport
from ragsonde.intake.topology import build_consumed_queues

if TYPE_CHECKING:
    from ragsonde.settings import Settings

CONSUMER = "ragsonde.intake.trace_consumer:TraceConsumer"


def build_celery_app(settings: Settings, *, broker_url: str) -> Celery:
    """The app of a worker process, its tasks not yet registered.

    Args:
        settings: threads, prefetch, queues and the body limit are read.
        broker_url: RabbitMQ's, or the embedded Valkey's.
    """
    is_amqp = is_amqp_url(broker_url)
    app = Celery("ragsonde", broker=name_consumer_transport(broker_url), set_as_current=False)
    app.conf.update(
        {
            **_build_delivery_settings(),
            **_build_broker_settings(is_amqp=is_amqp),
            **_build_quiet_settings(),
            "task_queues": build_consumed_queues(tuple(settings.queues), is_amqp=is_amqp),
            "worker_concurrency": settings.threads,
            # small: a crash takes the prefetched neighbours with it
            "worker_prefetch_multiplier": settings.prefetch_multiplier,
            # ours: read by the consumer
            "ragsonde_max_body_bytes": settings.max_body_bytes,
            "ragsonde_backfill_places": count_places(
                settings.threads, concurrencies=[judge.max_concurrency for judge in settings.judges]
            ),
        }
    )
    return app


def _build_transport_options(*, is_amqp: bool) -> dict[str, Any]:
    if is_amqp:
        # a publish returns only when the broker has the message
        return {"confirm_publish": True}
    return {
        # must exceed an evaluation's deadline with room, else a long one is started again while it runs
        "visibility_timeout": 600,
        # look for messages of dead workers every 5 s instead of with every tenth poll
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }


def _build_delivery_settings() -> dict[str, Any]:
    return {
        "worker_consumer": CONSUMER,
        # threads: judging waits for the network, and prefork costs five times the memory for the same rate
        "worker_pool": "threads",
        # the broker keeps the message until the last commit
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        # by default a failed task is acked: its message would vanish from the queue and from the dead letters
        "task_acks_on_failure_or_timeout": False,
        # results are rows in Postgres
        "task_ignore_result": True,
        "result_backend": None,
        # an unknown queue name is a mistake, not a wish for a new queue
        "task_create_missing_queues": False,
        # no pickle, whatever a producer claims
        "accept_content": ["json"],
        "task_serializer": "json",
        # after a broker restart with quorum queues only half of the threads worked again
        "worker_enable_prefetch_count_reduction": False,
        # what runs is finished: it may have paid for a judge already
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # quorum queues know no global prefetch: Celery must notice that they are
        "worker_detect_quorum_queues": True,
    }


def _build_broker_settings(*, is_amqp: bool) -> dict[str, Any]:
    return {
        # a worker that is started before its broker waits for it
        "broker_connection_retry_on_startup": True,
        # for ever; by default the worker dies after 100 tries
        "broker_connection_max_retries": None,
        # notices a silent network cut within a minute
        "broker_heartbeat": 30 if is_amqp else 0,
        "broker_transport_options": _build_transport_options(is_amqp=is_amqp),
    }


def _build_quiet_settings() -> dict[str, Any]:
    return {
        # remote control, gossip, mingle and events make exchanges nobody needs, and trouble on RabbitMQ 4
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        # our own logging is set up at the top
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
    }
