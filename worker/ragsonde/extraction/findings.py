"""What a format's rules found in a record, before contexts are numbered and the time is settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde_schemas.trace import ContextOrigin, EvaluationWish, FieldEvidence, Reference, Turn

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.errors import Cause


class FoundContext(NamedTuple):
    """A context before it has a rank: its place in the list is its rank.

    Attributes:
        content: None where only an id is known, until a resolver has found the text.
        retrieval_step: which of the trace's retrievals delivered it, from 0 in order of time.
    """

    content: str | None
    origin: ContextOrigin
    id: str | None = None
    score: float | None = None
    source_uri: str | None = None
    metadata: dict[str, Any] | None = None
    retrieval_step: int | None = None


class Found(NamedTuple):
    """A value and the rule that found it; no value, no rule."""

    value: Any = None
    evidence: FieldEvidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a format's rules found in one record.

    Attributes:
        format: name of the format the record came in.
        record_key: which record of its trace this is; '' for the first or only one.
        claimed_at: the producer's time, naive for UTC; a string where it is no time.
        contexts: None = unknown, () = retrieval returned nothing.
        evidence: by field of the trace, the rule that found it.
        gap, failure, re_retrieved: as in `Extraction`.
        mapped_to_nothing: fields whose mapping or extractor found null, so that the next in order held.
        mapping: which entry of the setting `extraction` was applied, from 0; None: none, or none yet.
        is_judge_call: it is a call of one of our own judges: nothing else of it was read.
    """

    format: str
    trace_id: str
    record_key: str = ""
    event_id: str | None = None
    app: str | None = None
    environment: str | None = None
    release: str | None = None
    variant: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    claimed_at: datetime | str | None = None
    query: str | None = None
    retrieval_query: str | None = None
    turns: tuple[Turn, ...] = ()
    contexts: tuple[FoundContext, ...] | None = None
    answer: str | None = None
    reference: Reference | None = None
    model: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    latency_ms: float | None = None
    cost_usd: float | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    wish: EvaluationWish = field(default_factory=EvaluationWish)
    sampling_probability: float = 1.0
    evidence: dict[str, FieldEvidence] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    gap: Cause | None = None
    failure: str | None = None
    re_retrieved: bool = False
    mapped_to_nothing: tuple[str, ...] = ()
    mapping: int | None = None
    is_judge_call: bool = False


@lru_cache(maxsize=256)
def cite(rule: str, *, is_exact: bool = True) -> FieldEvidence:
    """Evidence that `rule` found a field, where the producer puts it or in a neighbouring place."""
    return FieldEvidence(rule=rule, confidence="exact" if is_exact else "derived")
