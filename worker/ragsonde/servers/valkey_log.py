"""The append-only file of the embedded Valkey, written anew without the messages that were consumed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis

from ragsonde_schemas.errors import BrokerLostError

if TYPE_CHECKING:
    from collections.abc import Callable

_ANSWER_SECONDS = 10.0
_LONGEST_SECONDS = 60.0
_PAUSE_SECONDS = 0.02


def rewrite_log(broker_url: str, *, wait: Callable[[float], None] = time.sleep) -> None:
    """Returns when the file holds what still waits in the queues, and nothing else.

    Args:
        broker_url: of the embedded stack.
        wait: sleeps.

    Raises:
        BrokerLostError: it is away, or was not done in a minute: nothing is lost, call again.
    """
    client = redis.Redis(unix_socket_path=urlsplit(broker_url).path, socket_timeout=_ANSWER_SECONDS)
    try:
        _await_end(client, wait=wait)  # one that has begun already knows nothing of what was consumed since
        client.bgrewriteaof()
        told = _await_end(client, wait=wait)
    except redis.RedisError as error:
        raise BrokerLostError(f"the append-only file of Valkey could not be written anew: {error}") from error
    finally:
        client.close()
    if told.get("aof_last_bgrewrite_status") != "ok":
        raise BrokerLostError("Valkey could not write its append-only file anew: is its disk full?")


def _await_end(client: redis.Redis, *, wait: Callable[[float], None]) -> dict[str, object]:
    waited = 0.0
    while True:
        told: dict[str, object] = dict(client.info("persistence"))
        if not told.get("aof_rewrite_in_progress") and not told.get("aof_rewrite_scheduled"):
            return told
        if waited >= _LONGEST_SECONDS:
            raise BrokerLostError("Valkey has written its append-only file for a minute and is not done")
        wait(_PAUSE_SECONDS)
        waited += _PAUSE_SECONDS
