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


def publish_demo(broker_url: str, *, stopping: threading.Event) -> None:
    """Publishes them one after the other, each under an id of this run, until `stopping` is set."""
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    publisher = Publisher(broker_url)
    try:
        for message in read_demo_traces():
            message["trace_id"] = f"{run}-{message['trace_id']}"
            message["occurred_at"] = datetime.now(UTC).isoformat()
            publisher.publish_trace(
                json.dumps(message, ensure_ascii=False).encode(), content_type=CONTENT_TYPE
            )
            if stopping.wait(_PAUSE_SECONDS):
                return
    except BrokerLostError as error:
        write_note(f"the demo stopped: {error}")
    finally:
        publisher.close()
