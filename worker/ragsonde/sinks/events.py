"""From a committed result to the events that tell it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.score import Score
from ragsonde_schemas.score_event import ScoreEvent

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.evaluation import EvaluationKey, EvaluationResult
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

RESPONSE_ID = "gen_ai.response.id"
_ID_HEX_DIGITS = 32


def list_events(
    trace: Trace, key: EvaluationKey, result: EvaluationResult, *, now: datetime
) -> tuple[ScoreEvent, ...]:
    """An event for each outcome of a committed evaluation.

    Args:
        trace: whose record it is.
        key: of the evaluation, as stored.
        result: with all outcomes.
        now: when it was committed.
    """
    given = result.assessment or Assessment()
    shared: dict[str, Any] = {
        "app": trace.app,
        "environment": trace.environment,
        "release": trace.release,
        "variant": trace.variant,
        "trace_id": trace.trace_id,
        "record_key": trace.record_key,
        "revision": key.revision,
        "span_id": _find_span_id(trace),
        "response_id": _find_response_id(trace),
        "occurred_at": trace.occurred_at,
        "scored_at": now,
        "judge": key.judge,
        "fingerprint": given.answered_fingerprint or key.fingerprint,
        "judge_epoch": given.judge_epoch,
        "answered_model": given.answered_model,
    }
    return tuple(
        ScoreEvent(result_id=_compute_id(key, outcome), **shared, **_describe(outcome))
        for outcome in result.outcomes
    )


def fill_link(template: str, event: ScoreEvent) -> str:
    """The link to an event's trace; its parts are escaped."""
    return template.format(
        trace_id=quote(event.trace_id, safe=""),
        app=quote(show_app(event.app), safe=""),
        record_key=quote(event.record_key, safe=""),
    )


def _describe(outcome: Outcome) -> dict[str, Any]:
    described: dict[str, Any] = {
        "scorer": outcome.scorer,
        "version": outcome.version,
        "status": outcome.status,
        "reason": outcome.reason,
    }
    if isinstance(outcome, Score):
        return {
            **described,
            "raw": outcome.raw,
            "value": outcome.value,
            "band": outcome.band,
            "passed": outcome.passed,
        }
    return {**described, "cause": outcome.cause}


def _compute_id(key: EvaluationKey, outcome: Outcome) -> str:
    names = [key.model_dump(mode="json"), outcome.scorer, outcome.version]
    return hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()[:_ID_HEX_DIGITS]


def _find_span_id(trace: Trace) -> str | None:
    """The id of the record's root: the key of a record that is not its trace's first is one."""
    return trace.record_key or None


def _find_response_id(trace: Trace) -> str | None:
    found = trace.metadata.get(RESPONSE_ID, trace.extra.get(RESPONSE_ID))
    return found if isinstance(found, str) and found else None
