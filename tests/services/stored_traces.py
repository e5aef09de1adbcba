"""Traces that are stored already, with the free judge's scores, as if they had come an hour ago."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

from fakes.evaluations import make_trace, plan_free
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.storage.engine import build_engine
from ragsonde.storage.trace_store import PostgresTraceStore

if TYPE_CHECKING:
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde_schemas.evaluation import PlannedEvaluation


_REPLY = text(
    """
INSERT INTO judge_reply (trace_id, app, record_key, revision, day, judge, fingerprint, position, created_at,
    purpose, model, outcome, seconds, reply)
VALUES ('old', '', '', 1, :day, 'gpt', 'print', 0, :day, 'assess', 'm', 'ok', 1.0, '{}')
"""
)


def store_traces(database_url: str, count: int, *planned: PlannedEvaluation) -> list[str]:
    """The ids of new traces, each with an answer of its own."""
    clock = SystemClock()
    engine = build_engine(database_url, application_name="ragsonde test")
    ids = [f"stored-{number:04}" for number in range(count)]
    try:
        store = PostgresTraceStore(engine, clock=clock)
        occurred_at = clock.now() - timedelta(hours=1)
        for trace_id in ids:
            trace = make_trace(trace_id, answer=f"The answer of {trace_id}.", occurred_at=occurred_at)
            store.admit(trace, (plan_free(), *planned))
    finally:
        engine.dispose()
    return ids


def make_slow_judge(llm_url: str, **options: object) -> dict[str, object]:
    """An LLM judge that looks at no live trace."""
    return {
        "name": "gpt",
        "kind": "litellm",
        "model": "openai/mock",
        "api_base": llm_url,
        "reply_format": "json",
        "sample": 0.0,
        **options,
    }


def store_reply(engine: Engine, *, day: date) -> None:
    """A row of a judge's raw reply of that day, and nothing else of its trace."""
    with engine.begin() as connection:
        connection.execute(_REPLY, {"day": day})
