"""Finds the messages that the journal holds and nothing else does: those lost between pop and note."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from kombu.transport.redis import Channel

from ragsonde.intake.valkey_transport import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import redis
    from kombu import Queue

_PAGE = 500


def adopt_lost(client: redis.Redis, queues: Iterable[Queue]) -> int:
    """How many lost messages were noted as unacked, from where they go back like all that is unacked.

    To be called only while no worker lives: what a living one has just fetched is in no list either.

    Args:
        client: of the embedded broker.
        queues: ours; messages of other exchanges are left alone.
    """
    # the journal first: what is published meanwhile is in no answer here, and so is left alone
    lost = set(map(_read_tag, client.hkeys(JOURNAL))) - set(map(_read_tag, client.hkeys(Channel.unacked_key)))
    ours = list(queues)
    for queue in ours:
        if lost:
            lost -= set(_list_tags(client, queue.name))
    exchanges = {queue.exchange.name for queue in ours}
    return sum(_note_unacked(client, tag, exchanges) for tag in sorted(lost))


def _note_unacked(client: redis.Redis, tag: str, exchanges: Collection[str]) -> bool:
    entry = client.hget(JOURNAL, tag)
    if entry is None or json.loads(entry)[1] not in exchanges:
        return False
    with client.pipeline(transaction=True) as pipe:
        pipe.zadd(Channel.unacked_index_key, {tag: time.time()})
        pipe.hset(Channel.unacked_key, tag, entry)
        pipe.execute()
    return True


def _list_tags(client: redis.Redis, queue: str) -> Iterator[str]:
    """The delivery tags in a queue's lists, one for each step of priorities.

    Read from the right: publishers push on the left, which moves nothing there.
    """
    for step in Channel.priority_steps:
        key = f"{queue}{Channel.sep}{step}" if step else queue
        end = -1
        while page := client.lrange(key, end - _PAGE + 1, end):
            for item in page:
                yield json.loads(item)["properties"]["delivery_tag"]
            end -= _PAGE


def _read_tag(tag: bytes | str) -> str:
    return tag.decode() if isinstance(tag, bytes) else tag
