"""Putting back what a killed worker had fetched from the embedded broker.

kombu's Redis transport pops a message from its queue's list and notes it in a hash (`unacked`: delivery tag
-> message, exchange, routing key) and a sorted set (`unacked_index`: delivery tag by time) until it is acked.
What a killed worker leaves there comes back only after the visibility timeout, 10 minutes. When no worker
lives, all of it can go back at once.

Between the pop and the note a message is only in the journal that our transport keeps: it goes back as well.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
from bisect import bisect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import redis
from kombu.transport.redis import Channel

from ragsonde.intake.journal import adopt_lost
from ragsonde.intake.topology import build_own_queues
from ragsonde_schemas.errors import BrokerLostError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)


@contextmanager
def worker_presence(data_dir: Path, *, broker_url: str) -> Iterator[int]:
    """Held by each worker of an embedded stack while it lives; yields how many messages came back at boot.

    The lock file `workers.lock` is shared by living workers and let go by the kernel when one is killed. Who
    gets it alone knows that no other worker lives, and puts back everything that is unacked before it fetches
    anything. Beside living workers nothing is put back: some of it is what they work on.

    Raises:
        BrokerLostError: the broker cannot be reached.
    """
    descriptor = os.open(data_dir / "workers.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        restored = 0
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            restored = _restore_or_tell(broker_url)
        # another worker may get the lock alone in this moment: harmless, for we have fetched nothing yet
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield restored
    finally:
        os.close(descriptor)


def _restore_or_tell(broker_url: str) -> int:
    try:
        return restore_unacked(broker_url)
    except redis.RedisError as error:
        raise BrokerLostError(
            f"the embedded broker does not answer: {type(error).__name__}: {error}; is `ragsonde up` running?"
        ) from error


def restore_unacked(url: str) -> int:
    """How many unacked and lost messages went back to their queues, the oldest to be fetched first.

    To be called only while no worker lives. Each message moves in one transaction, so a kill in the middle
    loses none and doubles none, and calling it again is harmless. A message whose exchange leads to no queue
    stays where it is.

    Raises:
        redis.RedisError: the broker cannot be reached.
    """
    with _connect(url) as client:
        # a worker killed while it looked for overdue messages leaves this lock: 5 minutes nobody else looks
        client.delete(Channel.unacked_mutex_key)
        adopt_lost(client, build_own_queues(is_amqp=False))
        oldest_first = client.zrange(Channel.unacked_index_key, 0, -1)
        unindexed = set(client.hkeys(Channel.unacked_key)) - set(oldest_first)
        # the right end of a list is fetched next: what is put there last comes first
        tags = [*sorted(unindexed), *reversed(oldest_first)]
        restored = sum(_put_back(client, tag) for tag in tags)
        remaining = client.hlen(Channel.unacked_key)
    if tags:
        logger.info("unacked_restored", extra={"restored": restored, "unroutable": remaining})
    return restored


def _put_back(client: redis.Redis, tag: bytes) -> bool:
    was_put_back = False

    def move(pipe: Any) -> None:  # noqa: ANN401 - redis-py types a pipeline in a callback as nothing
        nonlocal was_put_back
        noted = pipe.hget(Channel.unacked_key, tag)
        payload, exchange, routing_key = json.loads(noted) if noted else ({}, "", "")
        queues = _queues(pipe, exchange, routing_key) if noted else []
        was_put_back = bool(queues)
        pipe.multi()
        if queues or not noted:
            pipe.zrem(Channel.unacked_index_key, tag)
            pipe.hdel(Channel.unacked_key, tag)
        for queue in queues:
            pipe.rpush(_list_key(queue, payload), json.dumps(_redelivered(payload)))

    # watched: acked or moved by somebody else meanwhile, it is looked at again
    client.transaction(move, Channel.unacked_key)
    return was_put_back


def _queues(pipe: Any, exchange: str, routing_key: str) -> list[str]:  # noqa: ANN401 - as above
    """The queues a message of this exchange goes to, from the bindings that kombu keeps beside the queues.

    A topic's binding has a pattern, a direct one's is empty. Asking kombu itself needs the exchange to be
    declared in this process, and it drops a message for which it finds no queue.
    """
    if not exchange:
        return [routing_key] if routing_key else []
    bindings = pipe.smembers(Channel.keyprefix_queue % exchange)
    found = set()
    for binding in bindings:
        bound_key, pattern, queue = binding.decode().split(Channel.sep)
        matches = re.match(pattern, routing_key) if pattern else bound_key == routing_key
        if matches:
            found.add(queue)
    return sorted(found)


def _list_key(queue: str, payload: dict[str, Any]) -> str:
    """The list of a message's priority; kombu has one list for each step of priorities."""
    try:
        priority = min(max(int(payload["properties"]["priority"]), 0), 9)
    except (KeyError, TypeError, ValueError):
        priority = 0
    step = Channel.priority_steps[bisect(Channel.priority_steps, priority) - 1]
    return f"{queue}{Channel.sep}{step}" if step else queue


def _redelivered(payload: dict[str, Any]) -> dict[str, Any]:
    """The message with kombu's two marks of a redelivery."""
    properties = payload.get("properties", {})
    delivery_info = {**properties.get("delivery_info", {}), "redelivered": True}
    return {
        **payload,
        "headers": {**payload.get("headers", {}), "redelivered": True},
        "properties": {**properties, "delivery_info": delivery_info},
    }


def _connect(url: str) -> redis.Redis:
    parts = urlsplit(url)
    if parts.scheme == "redis+socket":
        database = int(parse_qs(parts.query).get("virtual_host", ["0"])[0])
        return redis.Redis(unix_socket_path=parts.path, db=database)
    return redis.Redis.from_url(url)
