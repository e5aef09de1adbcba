"""Traces with short bodies, judged and scored for real: what the many copies are made of."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fakes.traces import make_trace
from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde.pipeline.judging import judge_and_score
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.evaluation import EvaluationResult, EvaluationState, PlannedEvaluation
from ragsonde_schemas.judge_call import JudgeCall

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.trace import Trace

DEMO = Path(__file__).parents[2] / "data" / "demo.jsonl"
APPS = tuple(f"app-{number}" for number in range(5))
CHARACTERS = 100
"""Of a context and of an answer: short, so that rows and not bytes are measured."""
PAID, PAID_FINGERPRINT = "gpt", "fedcba9876543210"
PAID_EVERY = 20
"""One trace in so many is judged by an LLM too: 5 %."""


class Seed(NamedTuple):
    """One trace, what the free judge says of it, and what an LLM would say."""

    trace: Trace
    free: PlannedEvaluation
    paid: EvaluationResult

    @property
    def waiting(self) -> PlannedEvaluation:
        """The LLM's evaluation as it is born."""
        return PlannedEvaluation(
            judge=PAID, fingerprint=PAID_FINGERPRINT, state=EvaluationState.WAITING, sample_rate=0.05
        )


def make_seeds(now: datetime, *, contexts: int) -> list[Seed]:
    """One a demo trace that has contexts, of which the first few are taken."""
    scorers = build_scorers(None)
    judge = LexicalJudge()
    messages = [json.loads(line) for line in DEMO.read_text().splitlines()]
    seeds = []
    for number, message in enumerate(one for one in messages if one.get("contexts")):
        short = {
            **message,
            "trace_id": f"seed-{number}",
            "app": APPS[number % len(APPS)],
            "contexts": [_shorten(context) for context in message["contexts"][:contexts]],
            "answer": (message.get("answer") or "")[:CHARACTERS],
            "occurred_at": (now - timedelta(hours=1)).isoformat(),
        }
        trace = make_trace(received_at=now, **short)
        result = judge_and_score(trace, scorers=scorers, judge=judge)
        free = PlannedEvaluation(
            judge=judge.name,
            fingerprint=judge.fingerprint,
            state=result.state,
            sample_rate=1.0,
            result=result,
        )
        seeds.append(Seed(trace, free, _answer(result)))
    return seeds


def _shorten(context: dict[str, object] | str) -> object:
    if isinstance(context, str):
        return context[:CHARACTERS]
    return {**context, "content": str(context["content"])[:CHARACTERS]}


def _answer(result: EvaluationResult) -> EvaluationResult:
    assessment = result.assessment
    if assessment is None:
        return result
    reply = json.dumps(assessment.model_dump(mode="json", exclude_defaults=True))
    call = JudgeCall(
        purpose="assess",
        model="gpt-mini",
        answered_model="gpt-mini-2026",
        outcome="ok",
        tokens_in=1600,
        tokens_out=120,
        cost_usd=0.0006,
        seconds=0.8,
        reply=reply,
    )
    return result.model_copy(update={"assessment": assessment.model_copy(update={"calls": (call,)})})
