"""From a record to the trace that is judged: the formats' rules, and what is the same for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.content_hash import compute_content_hash
from ragsonde.extraction.findings import Findings, cite
from ragsonde.extraction.native_message import find_in_message
from ragsonde.extraction.numbering import number_contexts
from ragsonde.extraction.occurrence import find_occurrence
from ragsonde.extraction.openinference import find_in_spans
from ragsonde_schemas.decoded import DecodedMessage, Receipt, WholeTrace
from ragsonde_schemas.trace import Extraction, Trace

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL_CHARACTERS = 200
"""app, environment, release and variant are parts of keys: longer ones are cut."""

NAME_CHARACTERS = 512
"""Ids and the model's name: longer ones are cut."""


class Rules(NamedTuple):
    """How one kind of record is read."""

    name: str
    find: Callable[[DecodedMessage | WholeTrace], Findings | None]
    """What the record holds, or None where these rules are not for it."""


def _find_native(record: DecodedMessage | WholeTrace) -> Findings | None:
    return find_in_message(record) if isinstance(record, DecodedMessage) else None


def _find_openinference(record: DecodedMessage | WholeTrace) -> Findings | None:
    return find_in_spans(record) if isinstance(record, WholeTrace) else None


RULES = (
    Rules("native", _find_native),
    Rules("openinference", _find_openinference),
)
"""Read from top to bottom: the first rules that find anything hold."""


def extract(record: DecodedMessage | WholeTrace, *, receipt: Receipt, retention_days: int) -> Trace:
    """The trace that a record is: contexts and sentences numbered, its time settled, its content hashed.

    Args:
        record: what `assembly.gather_records` gave.
        receipt: when the delivery came; used where the producer's time cannot be.
        retention_days: how long traces are kept; an older time is not used.

    Raises:
        DecodeError: OVER_LIMIT where the contexts hold more sentences than can be judged.
    """
    found = next(findings for rules in RULES if (findings := rules.find(record)) is not None)
    occurrence = find_occurrence(
        found.claimed_at, ids=(found.trace_id, found.event_id), receipt=receipt, retention_days=retention_days
    )
    warnings = list(found.warnings)
    contexts = None if found.contexts is None else number_contexts(found.contexts)
    return Trace(
        app=_cut_label(found.app, "app", warnings),
        trace_id=found.trace_id,
        event_id=_cut_name(found.event_id, "event_id", warnings),
        environment=_cut_label(found.environment, "environment", warnings),
        release=_cut_label(found.release, "release", warnings),
        variant=_cut_label(found.variant, "variant", warnings),
        session_id=_cut_name(found.session_id, "session_id", warnings),
        user_id=_cut_name(found.user_id, "user_id", warnings),
        occurred_at=occurrence.at,
        occurred_at_guessed=occurrence.is_guessed,
        claimed_occurred_at=occurrence.claimed,
        query=found.query,
        retrieval_query=found.retrieval_query,
        turns=found.turns,
        contexts=contexts,
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
            contexts=None if found.contexts is None else [context.content for context in found.contexts],
            answer=found.answer,
            reference=found.reference,
        ),
        extraction=Extraction(
            format=found.format,
            fields={
                **found.evidence,
                "occurred_at": cite(f"occurrence:{occurrence.rule}", is_exact=not occurrence.is_guessed),
            },
            warnings=tuple(warnings),
        ),
    )


def _cut_label(value: str | None, field: str, warnings: list[str]) -> str:
    return _cut((value or "").strip(), field, LABEL_CHARACTERS, warnings)


def _cut_name(value: str | None, field: str, warnings: list[str]) -> str | None:
    return _cut(value.strip(), field, NAME_CHARACTERS, warnings) or None if value is not None else None


def _cut(value: str, field: str, limit: int, warnings: list[str]) -> str:
    if len(value) <= limit:
        return value
    warnings.append(f"{field}: found {len(value)} characters, cut to {limit}")
    return value[:limit]
