"""Two weeks of the shop's past: the same traces for every start, only their dates differ.

On day 12 the search index is built anew, and one of its three parts stays empty: whoever asks about what lay
in it gets other pages. Nothing else changes, so what scores then say of it is what any fault would make them
say.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.api.traces import read_traces
from ragsonde.demo.corpus import APP, ENVIRONMENT, Question, read_documents, read_topics
from ragsonde.demo.retriever import Index
from ragsonde.demo.verdicts import JUDGE, find_fingerprint, record_verdicts
from ragsonde.extraction.sentences import number_sentences
from ragsonde.pipeline.judging import judge_and_score
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.evaluation import PlannedEvaluation
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from ragsonde.demo.corpus import Document
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.trace import Trace

DAYS = 14
FAULT_AFTER = timedelta(days=11, hours=9, minutes=50)
"""On day 12 at 09:50 UTC."""
RELEASED_AFTER = timedelta(days=5, hours=8)
"""A release that changed nothing, long before."""
PARTS, LOST_PART = 3, 1
SCORED_AFTER = timedelta(seconds=1)
"""After which a trace was scored, as a worker would have done it."""

_TRACES_BY_HOUR = (2, 1, 1, 1, 2, 3, 5, 8, 12, 14, 15, 15, 14, 14, 14, 14, 13, 13, 14, 14, 13, 9, 5, 3)
"""UTC: 219 a day."""
_MOST_PAGES = (4, 5)
"""Pages that are retrieved: two variants are tried."""
_SEED = 2
_NOT_FOUND = "I could not find that in our help pages. Please write to our support team."


class ShopTrace(NamedTuple):
    """A trace of the past, as it was stored.

    Attributes:
        trace: with its time.
        planned: its one evaluation, born with its scores.
        is_planted: no page that answers its question was in the index any more.
        case: its wording, and the state of the index; those of the same differ in id, time, release and
            latency only.
    """

    trace: Trace
    planned: PlannedEvaluation
    is_planted: bool
    case: tuple[str, int, bool]


class _Case(NamedTuple):
    """One wording and one state of the index: all that scores depend on."""

    trace: Trace
    planned: PlannedEvaluation
    is_planted: bool


def find_beginning(now: datetime) -> datetime:
    """Midnight (UTC) of the first day; day 14 is today."""
    return datetime.combine(now.date() - timedelta(days=DAYS - 1), time(), tzinfo=UTC)


def find_fault(now: datetime) -> datetime:
    """When the index lost a part."""
    return find_beginning(now) + FAULT_AFTER


def list_lost() -> frozenset[str]:
    """The ids of the pages in the part that is lost: of every third topic, and every third of the rest."""
    topics = read_topics()
    known = {page for topic in topics for page in topic.documents}
    rest = [(document.id,) for document in read_documents() if document.id not in known]
    return frozenset(
        page
        for group in ([topic.documents for topic in topics], rest)
        for place, pages in enumerate(group)
        if place % PARTS == LOST_PART
        for page in pages
    )


def list_history(*, now: datetime, scorers: Sequence[Scorer], has_fault: bool = True) -> Iterator[ShopTrace]:
    """The traces of the last two weeks up to now, the oldest first.

    Args:
        now: UTC; ids of traces bear it, so that a history that is loaded again is of other traces.
        scorers: by which they are scored.
        has_fault: False: the index stays whole, all else is the same.
    """
    draw = random.Random(_SEED)  # noqa: S311  # not for secrets
    teller = _Teller(scorers)
    begin = find_beginning(now)
    questions = [question for topic in read_topics() for question in topic.questions]
    for number, after in enumerate(_list_moments(draw), start=1):
        question = draw.choice(questions)
        text = draw.choice(question.texts)
        latency = round(draw.uniform(700, 2600))
        most = draw.choice(_MOST_PAGES)
        occurred_at = begin + after
        if occurred_at + SCORED_AFTER > now:
            return
        is_broken = has_fault and after >= FAULT_AFTER
        case = teller.tell(question, text, most=most, is_broken=is_broken)
        changes = {
            "trace_id": f"demo-{now:%Y%m%d-%H%M%S}-{number:04}",
            "occurred_at": occurred_at,
            "release": "2.2.0" if after < RELEASED_AFTER else "2.3.0",
            "latency_ms": float(latency),
        }
        key = (text, most, is_broken)
        yield ShopTrace(case.trace.model_copy(update=changes), case.planned, case.is_planted, key)


def _list_moments(draw: random.Random) -> list[timedelta]:
    """Times since the beginning, in order: the shop's mails are fetched, and answered, once an hour."""
    return sorted(
        timedelta(days=day, hours=hour, milliseconds=draw.randrange(120_000))
        for day in range(DAYS)
        for hour, number in enumerate(_TRACES_BY_HOUR)
        for _ in range(number)
    )


class _Teller:
    """Answers questions as the shop's assistant does; the same wording has the same answer."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._scorers = scorers
        self._judge = _RecordedVerdicts()
        self._pages = {topic.name: frozenset(topic.documents) for topic in read_topics()}
        documents = read_documents()
        lost = list_lost()
        whole, broken = documents, [one for one in documents if one.id not in lost]
        self._indexes = {False: Index(whole), True: Index(broken)}
        self._known = {False: {one.id for one in whole}, True: {one.id for one in broken}}
        self._told: dict[tuple[str, int, bool], _Case] = {}

    def tell(self, question: Question, text: str, *, most: int, is_broken: bool) -> _Case:
        key = (text, most, is_broken)
        if key not in self._told:
            self._told[key] = self._tell(question, text, most=most, is_broken=is_broken)
        return self._told[key]

    def _tell(self, question: Question, text: str, *, most: int, is_broken: bool) -> _Case:
        trace = self._answer(question, text, most=most, is_broken=is_broken)
        verdicts = record_verdicts(trace, question, topic=self._pages[question.topic])
        assessment = read_assessment(verdicts, trace, aspects=needed_aspects(self._scorers, trace))
        result = judge_and_score(trace, scorers=self._scorers, judge=self._judge, given=assessment)
        planned = PlannedEvaluation(
            judge=self._judge.name,
            fingerprint=self._judge.fingerprint,
            state=result.state,
            sample_rate=1.0,
            result=result,
        )
        return _Case(trace, planned, not (question.answers.keys() & self._known[is_broken]))

    def _answer(self, question: Question, text: str, *, most: int, is_broken: bool) -> Trace:
        hits = self._indexes[is_broken].search(text, most=most)
        holding = next((hit.document for hit in hits if hit.document.id in question.answers), None)
        message = {
            "schema_version": "1",
            "trace_id": "demo",
            "app": APP,
            "environment": ENVIRONMENT,
            "variant": f"top-{most}",
            "query": text,
            "contexts": [
                {
                    "id": hit.document.id,
                    "score": hit.score,
                    "content": hit.document.content,
                    "source_uri": hit.document.source_uri,
                }
                for hit in hits
            ],
            "answer": _NOT_FOUND if holding is None else _quote(holding, question.answers[holding.id]),
            "model": "assistant-small",
            "tags": ["en"],
        }
        (trace,) = read_traces(json.dumps(message).encode(), content_type=CONTENT_TYPE)
        return trace


def _quote(document: Document, numbers: Sequence[int]) -> str:
    sentences = number_sentences(document.content, context_number="1")
    return " ".join(sentences[number - 1].text for number in numbers)


class _RecordedVerdicts:
    """Whose verdicts they are; all are given, so it is never asked."""

    is_free = True
    name = JUDGE

    def __init__(self) -> None:
        self.fingerprint = find_fingerprint()

    def assess(
        self, trace: Trace, aspects: AbstractSet[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        raise AssertionError(f"trace {trace.trace_id}: verdicts of {sorted(aspects)} are given; {deadline}")
