"""The demo: an invented shop's traces, published as its application would."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ragsonde.cli.terminal import write_note
from ragsonde.intake.publisher import Publisher
from ragsonde_schemas.errors import BrokerLostError
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    import threading

_PAUSE_SECONDS = 0.2


def read_demo_traces() -> list[dict[str, Any]]:
    """The shop's traces, as native messages without a time."""
    lines = files("ragsonde").joinpath("demo", "traces.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def build_demo_message(trace: dict[str, Any], *, now: datetime) -> bytes:
    """A trace of the shop that happens now: on one day the same trace, however often it is published."""
    return json.dumps({**trace, "occurred_at": now.isoformat()}, ensure_ascii=False).encode()


def publish_demo(broker_url: str, *, stopping: threading.Event) -> None:
    """Publishes them one after the other until `stopping` is set."""
    traces = read_demo_traces()
    write_note(f"the demo's {len(traces)} traces are added once a day: those of today are not scored again")
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
