"""What is recorded of a trace of the past: who wrote the questions knows which sentences answer them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ragsonde.demo.corpus import read_questions
from ragsonde.judging.fingerprint import compute_fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection

    from ragsonde.demo.corpus import Question
    from ragsonde_schemas.trace import Context, Trace

JUDGE = "recorded"
_HOLDS, _NEAR, _OTHER = "holds the answer", "of the same subject, without the answer", "of another subject"


def find_fingerprint() -> str:
    """Names these verdicts: other questions are another series."""
    return compute_fingerprint("recorded", model=sha256(read_questions().encode()).hexdigest())


def record_verdicts(trace: Trace, question: Question, *, topic: Collection[str]) -> dict[str, Any]:
    """The verdicts, as `scoring.verdicts` reads them.

    Args:
        trace: of the question.
        question: which pages and sentences answer it.
        topic: ids of the pages of its topic.
    """
    contexts = trace.contexts or ()
    holding = [context for context in contexts if context.id in question.answers]
    return {
        "contexts": {context.number: _judge(context, question, topic=topic) for context in contexts},
        "missing": [] if holding else [f"what the help pages say about {question.topic}"],
        "essential": [
            f"{context.number}.{sentence}"
            for context in holding[:1]
            for sentence in question.answers[str(context.id)]
        ],
        "insufficient": not holding,
        "relevant_sentences": [sentence.number for context in holding for sentence in context.sentences],
        "reason": None if holding else "no page that answers the question was found",
    }


def _judge(context: Context, question: Question, *, topic: Collection[str]) -> dict[str, Any]:
    if context.id in question.answers:
        return {"relevant": True, "level": "high", "used": True, "reason": _HOLDS}
    is_near = context.id in topic
    return {
        "relevant": False,
        "level": "low" if is_near else "none",
        "used": False,
        "reason": _NEAR if is_near else _OTHER,
    }
