"""The demo: an invented shop's traces, published as its application would."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

from ragsonde.cli.terminal import write_note
from ragsonde.demo.corpus import APP, read_demo_traces
from ragsonde.demo.verdicts import JUDGE
from ragsonde.intake.publisher import Publisher
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde_schemas.errors import BrokerLostError, DatabaseLostError
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    import threading

    from sqlalchemy import Engine

_PAUSE_SECONDS = 0.2


def build_demo_message(trace: dict[str, Any], *, now: datetime) -> bytes:
    """A trace of the shop that happens now: on one day the same trace, however often it is published."""
    return json.dumps({**trace, "occurred_at": now.isoformat()}, ensure_ascii=False).encode()


def describe_adding(number: int, *, stored: int) -> str:
    """What publishing the demo's traces will do.

    Args:
        number: of the traces.
        stored: how many of them today has already; the same trace is scored once a day.
    """
    if not stored:
        return f"publishing the demo's {number} traces"
    if stored < number:
        return (
            f"publishing the demo's {number} traces: {stored} are stored today already and not scored again, "
            "the others are added"
        )
    return (
        f"the demo's {number} traces are stored today already and not scored again; `ragsonde "
        "drop-demo` removes them, and the next start adds them anew"
    )


def count_stored(engine: Engine, *, now: datetime) -> int:
    """How many of today's traces of the demo were stored today (UTC); 0 where Postgres is away."""
    midnight = datetime.combine(now.date(), time(), tzinfo=UTC)
    try:
        states = count_states(engine, since=midnight, app=APP)
        past = sum(number for (judge, _), number in states.items() if judge == JUDGE)
        return count_revisions(engine, since=midnight, app=APP) - past
    except DatabaseLostError:
        return 0


def publish_demo(broker_url: str, *, stored: int, stopping: threading.Event) -> None:
    """Publishes them one after the other until `stopping` is set; `stored`: as for `describe_adding`."""
    traces = read_demo_traces()
    write_note(describe_adding(len(traces), stored=stored))
    publisher = Publisher(broker_url)
    try:
        for trace in traces:
            message = build_demo_message(trace, now=datetime.now(UTC))
            publisher.publish_trace(message, content_type=CONTENT_TYPE)
            if stopping.wait(_PAUSE_SECONDS):
                return
    except BrokerLostError as error:
        write_note(f"the demo stopped: {error}")
    finally:
        publisher.close()
