"""What is evaluated: one record of a trace, with its contexts numbered and cut into sentences."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.value import Value


class ContextOrigin(StrEnum):
    """Which part of the application delivered a context."""

    PRODUCER = "producer"
    RERANKER = "reranker"
    RETRIEVER = "retriever"
    TOOL = "tool"
    PROMPT = "prompt"
    MAPPING = "mapping"
    EXTRACTOR = "extractor"
    RESOLVER = "resolver"


class Sentence(Value):
    """One sentence of a context.

    Attributes:
        number: "c.k", both from 1: the name of the sentence towards judges and people.
        text: stripped, never empty.
        line: which non-empty line of the context it stands in, from 0.
    """

    number: str
    text: str
    line: int


class Context(Value):
    """One retrieved piece of text.

    Attributes:
        rank: 0-based position in retrieval order.
        content: the text; blank contexts keep their rank, have no sentences and are never relevant.
        retrieval_step: which of the trace's retrievals delivered it, from 0 in order of time; None where the
            format does not tell them apart.
    """

    rank: int = 0
    content: str
    id: str | None = None
    score: float | None = None
    source_uri: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    origin: ContextOrigin = ContextOrigin.PRODUCER
    retrieval_step: int | None = None
    sentences: tuple[Sentence, ...] = ()

    @property
    def number(self) -> str:
        """The context's name towards judges and people: its rank + 1, as a string."""
        return str(self.rank + 1)

    @property
    def is_blank(self) -> bool:
        """True when there is nothing to read in it."""
        return not self.content.strip()


class Turn(Value):
    """One turn of the conversation that led to the question."""

    role: str
    content: str


class Reference(Value):
    """What a person says is right."""

    answer: str | None = None
    contexts: tuple[str, ...] = ()
    context_ids: tuple[str, ...] = ()


class EvaluationWish(Value):
    """What the producer asked for: it lowers what is done, never raises it.

    Attributes:
        scorers: instance names, None for all that are configured.
        sample_rate: an upper bound on every judge's rate, None for none.
    """

    scorers: tuple[str, ...] | None = None
    sample_rate: float | None = None


class FieldEvidence(Value):
    """Where a field of the trace was found.

    Attributes:
        rule: name of the rule that found it, e.g. `native:contexts`, `openinference:retriever`.
        confidence: `exact` (the producer says so), `derived` (read from a neighbouring place).
    """

    rule: str
    confidence: str = "exact"


class InjectionKind(StrEnum):
    """In which way a text looks as if it wanted to steer a judge."""

    OVERRIDE = "override"
    """the judge's instructions are to be left aside"""
    VERDICT = "verdict"
    """a verdict is asked for or given"""
    ROLE = "role"
    """tags of a conversation with a model"""
    DELIMITER = "delimiter"
    """the end of the data is pretended"""
    REPLY = "reply"
    """it has the form of a judge's reply or of scores"""
    HIDDEN = "hidden"
    """characters that people do not see"""
    ENCODED = "encoded"
    """one of these once it is decoded"""


class SuspectedInjection(Value):
    """A text that looks hostile to a judge; never the text itself.

    Attributes:
        where: `question`, `answer`, or `context` and its number.
    """

    where: str
    kind: InjectionKind


class Extraction(Value):
    """How a trace was read: per field its evidence, and what looked odd.

    Attributes:
        gap: why there are no contexts, where that is known better than "unknown" or "none retrieved".
        failure: what went wrong in a mapping, extractor or resolver; such a trace has no scores.
        re_retrieved: the contexts were searched again at evaluation time: they measure today's index.
        suspected_injection: texts that look as if they wanted to steer a judge; verdicts do not depend on it.
    """

    format: str
    fields: dict[str, FieldEvidence] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    gap: Cause | None = None
    failure: str | None = None
    re_retrieved: bool = False
    suspected_injection: tuple[SuspectedInjection, ...] = ()


class TraceKey(Value):
    """Names one record of a trace, without its revision. `app` is '' where unknown."""

    app: str
    trace_id: str
    record_key: str = ""
    day: date


class Trace(Value):
    """One record of a trace: what judges read and scorers score.

    Attributes:
        app: '' where unknown (shown as `default`).
        record_key: '' for a whole message.
        occurred_at: the producer's time, else the best guess; aware, UTC.
        occurred_at_guessed: the producer gave none that can be used.
        claimed_occurred_at: what the producer claimed, as text, where it was not used.
        turns: the conversation before the question, oldest first.
        contexts: None = unknown, () = retrieval returned nothing.
        sampling_probability: with which probability the producer emitted this trace at all.
        content_hash: sha256 of what judges see; equal hash = duplicate.
        extra: unknown keys of the message.
    """

    app: str = ""
    trace_id: str
    record_key: str = ""
    event_id: str | None = None
    environment: str = ""
    release: str = ""
    variant: str = ""
    session_id: str | None = None
    user_id: str | None = None
    occurred_at: datetime
    occurred_at_guessed: bool = False
    claimed_occurred_at: str | None = None
    query: str | None = None
    retrieval_query: str | None = None
    turns: tuple[Turn, ...] = ()
    contexts: tuple[Context, ...] | None = None
    answer: str | None = None
    reference: Reference | None = None
    model: str | None = None
    usage: dict[str, Any] = Field(default_factory=dict)
    latency_ms: float | None = None
    cost_usd: float | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)
    wish: EvaluationWish = EvaluationWish()
    sampling_probability: float = 1.0
    content_hash: str
    extraction: Extraction

    @property
    def key(self) -> TraceKey:
        """The record's key; `day` is the UTC date of `occurred_at`."""
        return TraceKey(
            app=self.app, trace_id=self.trace_id, record_key=self.record_key, day=self.occurred_at.date()
        )

    @property
    def missing_contexts(self) -> Cause | None:
        """Why there is no context to judge, or None when there is one. All blank counts as empty."""
        if self.contexts is None:
            return self.extraction.gap or Cause.NO_CONTEXT
        if all(context.is_blank for context in self.contexts):
            return self.extraction.gap or Cause.EMPTY_RETRIEVAL
        return None

    @property
    def has_query(self) -> bool:
        """True when there is a question to judge against."""
        return bool(
            (self.query and self.query.strip()) or (self.retrieval_query and self.retrieval_query.strip())
        )

    @property
    def has_answer(self) -> bool:
        """True when the application answered with any text."""
        return bool(self.answer and self.answer.strip())

    @property
    def has_reference(self) -> bool:
        """True when a person's answer is there to judge `supports` against."""
        return bool(self.reference and self.reference.answer and self.reference.answer.strip())

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences of all contexts, in order."""
        return tuple(sentence for context in self.contexts or () for sentence in context.sentences)
