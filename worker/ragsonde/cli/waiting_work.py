"""What `doctor` says of work that waits: does anybody take it?"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde.cli.finding import Finding, Verdict
from ragsonde.intake.broker_urls import is_amqp_url
from ragsonde.intake.topology import OUR_QUEUES, TRACES, WORK
from ragsonde.storage.stored_lately import has_stored
from ragsonde.storage.sweeping import find_longest_due

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlalchemy import Engine

    from ragsonde.intake.publisher import Publisher

LATELY = timedelta(seconds=60)
PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.25
LONG_DUE = timedelta(minutes=10)
"""As the alert RagsondeQueueOld."""


def examine_waiting(
    engine: Engine,
    publisher: Publisher,
    *,
    broker_url: str,
    queues: Collection[str],
    wait: Callable[[float], None] = time.sleep,
) -> Finding:
    """Whether messages wait that nobody takes: no consumer, or for a minute no sign of one.

    A worker that hangs is a consumer still. So where nothing was stored lately it is looked for some seconds
    whether the queues get shorter or anything is stored: messages may have come a moment ago.

    Args:
        engine: of this process.
        publisher: connected to the broker, or about to be.
        broker_url: where the broker is.
        queues: that workers take traces from.
        wait: lets so many seconds pass.

    Raises:
        RagsondeError: broker or database cannot be asked.
    """
    watched = (*(name for name in (TRACES, *queues) if name in OUR_QUEUES and name in queues), WORK)
    began_at = datetime.now(UTC)
    waiting = _count(publisher, watched)
    if not waiting:
        return Finding("waiting", Verdict.OK, "no message waits")
    found = ", ".join(f"{number} in {name}" for name, number in waiting.items())
    if is_amqp_url(broker_url):
        alone = [queue.name for queue in publisher.look_up(waiting) if not queue.consumers]
        if alone:
            advice = "start `ragsonde worker`, with these queues in its settings"
            return Finding("waiting", Verdict.WARNING, f"{found}; nobody consumes {', '.join(alone)}", advice)
    for attempt in range(round(PATIENCE_SECONDS / _PAUSE_SECONDS)):
        if attempt:
            wait(_PAUSE_SECONDS)
        if has_stored(engine, since=began_at - LATELY) or _has_fallen(_count(publisher, watched), waiting):
            return Finding("waiting", Verdict.OK, f"{found}; workers take them")
    seconds = (datetime.now(UTC) - began_at + LATELY).total_seconds()
    return Finding(
        "waiting",
        Verdict.WARNING,
        f"{found}; for {seconds:.0f} s nothing was taken or stored",
        "ask each worker: `curl -m 5 http://WORKER:PORT/health/live`; one that does not answer hangs: kill "
        "it and start it again, what it had in hand is delivered again",
    )


def examine_due(engine: Engine) -> Finding:
    """Whether work that is in Postgres has been due for long.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    now = datetime.now(UTC)
    since = find_longest_due(engine, now=now)
    age = timedelta(0) if since is None else max(timedelta(0), now - since)
    if since is None:
        return Finding("due work", Verdict.OK, "none waits")
    found = f"the oldest has been due for {age.total_seconds():.0f} s"
    if age <= LONG_DUE:
        return Finding("due work", Verdict.OK, found)
    advice = "the monitor puts it into the queue: is `ragsonde monitor` running? if it is, start more workers"
    return Finding("due work", Verdict.WARNING, found, advice)


def _count(publisher: Publisher, watched: Collection[str]) -> dict[str, int]:
    return {name: number for name, number in publisher.count_messages().items() if number and name in watched}


def _has_fallen(now: Mapping[str, int], before: Mapping[str, int]) -> bool:
    return any(now.get(name, 0) < number for name, number in before.items())
