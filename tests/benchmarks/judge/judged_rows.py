"""What the lexical judge says about a labelled row, read as in production."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragsonde.extraction.sentences import number_sentences
from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.trace import Context, Extraction, Trace

if TYPE_CHECKING:
    from labelled_rows import LabelledRow

    from ragsonde_schemas.assessment import Assessment

JUDGE = LexicalJudge()


@dataclass(frozen=True)
class JudgedRow:
    """Per context of a row.

    Attributes:
        query_only: probability from the question alone; 0 for blank contexts.
        of_head: probability by the head that gave the verdicts.
        relevant, used: 1 where the verdict says so.
    """

    query_only: list[float]
    of_head: list[float]
    relevant: list[float]
    used: list[float]


def to_trace(row: LabelledRow, *, answer: str) -> Trace:
    """The trace of a row, its contexts numbered and cut as in production."""
    return Trace(
        trace_id=row.group,
        occurred_at=datetime(2024, 1, 1, tzinfo=UTC),
        query=row.query,
        answer=answer,
        contexts=tuple(
            Context(
                rank=rank,
                content=context.text,
                sentences=number_sentences(context.text, context_number=str(rank + 1)),
            )
            for rank, context in enumerate(row.contexts)
        ),
        content_hash="",
        extraction=Extraction(format="benchmark"),
    )


def judge(trace: Trace) -> Assessment:
    """All aspects."""
    return JUDGE.assess(trace, frozenset(Aspect))


def judge_row(row: LabelledRow, *, answer: str) -> JudgedRow:
    """The verdicts about a row's contexts with this answer."""
    assessment = judge(to_trace(row, answer=answer))
    verdicts = (assessment.contexts or {}).values()
    numbers = [str(place + 1) for place in range(len(row.contexts))]
    alone = assessment.notes["query_only"]
    of_head = assessment.notes[assessment.head or "query_only"]
    return JudgedRow(
        query_only=[alone.get(number, 0.0) for number in numbers],
        of_head=[of_head.get(number, 0.0) for number in numbers],
        relevant=[float(bool(verdict.relevant)) for verdict in verdicts],
        used=[float(bool(verdict.used)) for verdict in verdicts],
    )
