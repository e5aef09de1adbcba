"""Events for tests of score sinks."""

from __future__ import annotations

from typing import Any

from fakes.clock import NOON
from ragsonde_schemas.score_event import ScoreEvent


def make_event(number: int = 1, **fields: Any) -> ScoreEvent:  # noqa: ANN401 - any field of an event
    """A score of .8 of trace `t-<number>`."""
    defaults: dict[str, Any] = {
        "result_id": f"{number:032x}",
        "app": "shop",
        "environment": "production",
        "release": "2026.6",
        "variant": "",
        "trace_id": f"t-{number}",
        "record_key": "",
        "revision": 1,
        "occurred_at": NOON,
        "scored_at": NOON,
        "judge": "gpt",
        "fingerprint": "fedcba9876543210",
        "judge_epoch": 2,
        "answered_model": "m-2",
        "scorer": "context_precision",
        "version": "1:answer",
        "status": "scored",
        "raw": 0.8,
        "value": 8.0,
        "band": "good",
        "passed": True,
        "reason": "1 of 2 contexts is relevant",
    }
    return ScoreEvent(**(defaults | fields))
