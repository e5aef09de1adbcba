"""Exchanges and queues: names and arguments are constants, what operators tune is a RabbitMQ policy."""

from __future__ import annotations

from kombu import Exchange, Queue

TRACES = "ragsonde.traces"
WORK = "ragsonde.work"
BACKFILL = "ragsonde.backfill"
DEAD = "ragsonde.dead"
TRACES_DEAD = "ragsonde.traces.dead"

TRACE_EXCHANGE = Exchange("ragsonde", type="topic", durable=True)
WORK_EXCHANGE = Exchange(WORK, type="direct", durable=True)
DEAD_EXCHANGE = Exchange(DEAD, type="fanout", durable=True)

OUR_QUEUES = (TRACES, WORK, BACKFILL, TRACES_DEAD)

DELIVERY_LIMIT = 20
"""High, because a crash takes innocent prefetched neighbours with it; our own count of starts blames one."""

_QUORUM = {"x-queue-type": "quorum"}
_SAFE = {
    **_QUORUM,
    "x-delivery-limit": DELIVERY_LIMIT,
    "x-dead-letter-exchange": DEAD,
    # at-least-once keeps the message until the dead-letter queue has confirmed it; it requires reject-publish
    "x-dead-letter-strategy": "at-least-once",
    # a full queue refuses new messages: the producer's confirm fails, nothing already accepted is dropped
    "x-overflow": "reject-publish",
}


def build_own_queues(*, is_amqp: bool) -> tuple[Queue, ...]:
    """The queues that we declare: traces, work, backfill and, on RabbitMQ, dead letters.

    Args:
        is_amqp: False for Valkey, which knows no arguments and no dead letters.
    """
    arguments = _SAFE if is_amqp else None
    queues = (
        Queue(TRACES, TRACE_EXCHANGE, routing_key="#", durable=True, queue_arguments=arguments),
        Queue(WORK, WORK_EXCHANGE, routing_key=WORK, durable=True, queue_arguments=arguments),
        Queue(BACKFILL, WORK_EXCHANGE, routing_key=BACKFILL, durable=True, queue_arguments=arguments),
    )
    if not is_amqp:
        return queues
    dead = Queue(
        TRACES_DEAD,
        DEAD_EXCHANGE,
        # a fanout needs no key, but where there is none Celery binds once more with one of its own
        routing_key=TRACES_DEAD,
        durable=True,
        queue_arguments=_QUORUM,
    )
    return (*queues, dead)


def build_consumed_queues(foreign: tuple[str, ...], *, is_amqp: bool) -> tuple[Queue, ...]:
    """The queues a worker consumes: ours and the opted-in foreign ones; not that of `backfill_feed`.

    Args:
        foreign: names from `queues:`; those that are not ours exist already and are never declared by us.
        is_amqp: False for Valkey.
    """
    ours = tuple(queue for queue in build_own_queues(is_amqp=is_amqp) if queue.name != BACKFILL)
    if TRACES not in foreign:
        ours = tuple(queue for queue in ours if queue.name != TRACES)
    theirs = tuple(Queue(name, no_declare=True) for name in foreign if name not in OUR_QUEUES)
    return ours + theirs
