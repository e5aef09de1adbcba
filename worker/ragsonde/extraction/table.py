"""From a record to the trace that is judged: the formats' rules, and what is the same for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.content_hash import compute_content_hash
from ragsonde.extraction.findings import cite
from ragsonde.extraction.foreign.table import FOREIGN
from ragsonde.extraction.injections import find_injections
from ragsonde.extraction.native_message import find_in_message
from ragsonde.extraction.numbering import number_contexts
from ragsonde.extraction.occurrence import find_occurrence
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde.extraction.trace_labels import read_label
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.decoded import DecodedMessage, ForeignDocument, WholeTrace
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.trace import Extraction, Trace

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, FoundContext
    from ragsonde_schemas.decoded import Receipt, Record

DEFAULT_OPTIONS = RetrievalOptions()

NAME_CHARACTERS = 512
"""Ids and the model's name: longer ones are cut."""


def find_fields(
    record: Record, *, options: RetrievalOptions = DEFAULT_OPTIONS, is_known: bool = False
) -> tuple[Findings, ...]:
    """What the rules of its format find in a record: one for each trace in it.

    Several where each retrieval is a trace of its own; none where spans say nothing of a RAG application,
    unless `is_known` says that somebody else knows how to read them.
    """
    match record:
        case DecodedMessage():
            return (find_in_message(record),)
        case WholeTrace():
            return find_in_spans(record, options=options, is_known=is_known)
        case ForeignDocument():
            return FOREIGN[record.format](record, options=options)


def build_trace(found: Findings, *, receipt: Receipt, retention_days: int) -> Trace:
    """The trace that was found: contexts and sentences numbered, its time settled, its content hashed.

    Args:
        found: by rules, mappings and functions.
        receipt: when the delivery came; used where the producer's time cannot be.
        retention_days: how long traces are kept; an older time is not used.

    Raises:
        DecodeError: OVER_LIMIT where the contexts hold more sentences than can be judged.
    """
    occurrence = find_occurrence(
        found.claimed_at, ids=(found.trace_id, found.event_id), receipt=receipt, retention_days=retention_days
    )
    warnings = list(found.warnings)
    warnings += [f"{field}: its mapping found nothing" for field in found.mapped_to_nothing]
    contexts, gap = _settle_contexts(found, warnings)
    return Trace(
        app=read_app(read_label(found.app, "app", warnings)),
        trace_id=found.trace_id,
        record_key=found.record_key,
        event_id=_cut_name(found.event_id, "event_id", warnings),
        environment=read_label(found.environment, "environment", warnings),
        release=read_label(found.release, "release", warnings),
        variant=read_label(found.variant, "variant", warnings),
        session_id=_cut_name(found.session_id, "session_id", warnings),
        user_id=_cut_name(found.user_id, "user_id", warnings),
        occurred_at=occurrence.at,
        occurred_at_guessed=occurrence.is_guessed,
        claimed_occurred_at=occurrence.claimed,
        query=found.query,
        retrieval_query=found.retrieval_query,
        turns=found.turns,
        contexts=None if contexts is None else number_contexts(contexts),
        answer=found.answer,
        reference=found.reference,
        model=_cut_name(found.model, "model", warnings),
        usage=found.usage,
        latency_ms=found.latency_ms,
        cost_usd=found.cost_usd,
        tags=found.tags,
        metadata=found.metadata,
        extra=found.extra,
        wish=found.wish,
        sampling_probability=found.sampling_probability,
        content_hash=compute_content_hash(
            query=found.query,
            retrieval_query=found.retrieval_query,
            turns=found.turns,
            contexts=None if contexts is None else [context.content or "" for context in contexts],
            answer=found.answer,
            reference=found.reference,
            has_failed=found.failure is not None,
        ),
        extraction=Extraction(
            format=found.format,
            fields={
                **found.evidence,
                "occurred_at": cite(f"occurrence:{occurrence.rule}", is_exact=not occurrence.is_guessed),
            },
            warnings=tuple(warnings),
            gap=gap,
            failure=found.failure,
            re_retrieved=found.re_retrieved,
            suspected_injection=find_injections(
                query=found.query,
                answer=found.answer,
                contexts=(
                    (str(number), context.content or "") for number, context in enumerate(contexts or (), 1)
                ),
            ),
        ),
    )


def _settle_contexts(
    found: Findings, warnings: list[str]
) -> tuple[tuple[FoundContext, ...] | None, Cause | None]:
    """The contexts with their texts, and why there are none; ids whose texts nobody knows are no contexts."""
    if not found.contexts:
        return found.contexts, found.gap
    lacking = sum(context.content is None for context in found.contexts)
    if lacking == len(found.contexts):
        return None, Cause.CONTEXT_TEXT_MISSING
    if lacking:
        warnings.append(f"contexts: {lacking} of {len(found.contexts)} have no text")
    return found.contexts, found.gap


def _cut_name(value: str | None, field: str, warnings: list[str]) -> str | None:
    name = (value or "").strip()
    if len(name) > NAME_CHARACTERS:
        warnings.append(f"{field}: found {len(name)} characters, cut to {NAME_CHARACTERS}")
    return name[:NAME_CHARACTERS] or None
