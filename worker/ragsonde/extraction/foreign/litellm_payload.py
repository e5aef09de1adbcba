"""LiteLLM's StandardLoggingPayload: one model call, and what the proxy's vector stores found for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_tags, read_usage
from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.findings import cite
from ragsonde.extraction.foreign.litellm_content import (
    find_question,
    read_response,
    read_searches,
    read_turns_given,
)
from ragsonde.extraction.foreign.moments import find_moment, measure_milliseconds, scale_seconds
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.prompt_sections import find_section_given
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "litellm_payload"
_IDS = ("trace_id", "litellm_call_id", "id")
_NOT_ANSWERING = ("embedding", "image", "speech", "transcription", "moderation", "rerank", "file", "batch")
_REQUESTER = "metadata.requester_metadata"
_NAMES = {
    "app": (f"{_REQUESTER}.app",),
    "environment": (f"{_REQUESTER}.environment",),
    "release": (f"{_REQUESTER}.release",),
    "session_id": (f"{_REQUESTER}.session_id",),
    "user_id": ("end_user", "model_parameters.user", "metadata.user_api_key_end_user_id"),
}
_NOT_KEPT = frozenset({"user_api_key_hash", "vector_store_request_metadata", "usage_object"})
"""Of the metadata: a credential's hash, and what is read into other fields."""

_SEARCHED = 1
_GENERATED = 1_000_000
"""Places in time: a proxy searches within the call, whose own times cover the search."""


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one call; none of a call that answers no question, such as an embedding.

    Calls of one trace (fallbacks, an agent's steps, a session) are records of their own: the call's id tells
    them apart.
    """
    fields = document.document
    call_type = str(fields.get("call_type")).lower()
    if any(word in call_type for word in _NOT_ANSWERING):
        return ()
    name = find_trace_name(fields, [fields.get(key) for key in _IDS])
    call_id = read_name(fields.get("id")) or ""
    latency = scale_seconds(fields.get("response_time"))
    found = find_in_steps(
        _read_steps(fields),
        format_name=FORMAT,
        trace_id=name.trace_id,
        record_key="" if call_id == name.trace_id else call_id,
        claimed_at=find_moment(fields.get(key) for key in ("occurred_at", "startTime")),
        latency_ms=measure_milliseconds(fields.get("startTime"), fields.get("endTime"))
        if latency is None
        else latency,
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(
        _name_prompt(add_stated(findings, fields, takes_metadata=False), fields.get("messages"))
        for findings in found
    )


def _read_steps(fields: dict[str, Any]) -> list[Step]:
    turns = read_turns_given(fields.get("messages"))
    section = find_section_given(turns)
    call = Step(
        convention=FORMAT,
        id="call",
        parent_id=None,
        kind=StepKind.GENERATION,
        start_ns=_GENERATED,
        end_ns=_GENERATED,
        question=read_found(find_question(fields.get("messages"), turns), f"{FORMAT}:messages"),
        answer=read_found(read_response(fields.get("response")), f"{FORMAT}:response"),
        turns=turns,
        prompted=() if section is None else (section.text,),
        facts=_find_facts(fields),
        is_entry=True,
    )
    searches = [
        Step(
            convention=FORMAT,
            id=f"search:{place}",
            parent_id="call",
            kind=StepKind.RETRIEVER,
            start_ns=_SEARCHED + place,
            end_ns=_SEARCHED + place,
            documents=search.documents,
            question=read_found(search.query, f"{FORMAT}:vector_store_request"),
        )
        for place, search in enumerate(read_searches(fields))
    ]
    return [call, *searches]


def _find_facts(fields: dict[str, Any]) -> dict[str, Found]:
    facts = find_names(fields, format_name=FORMAT, places=_NAMES)
    cost = read_score(fields.get("response_cost"))
    metadata = fields.get("metadata")
    logged = metadata.items() if isinstance(metadata, dict) else ()
    others = {
        "usage": (read_usage(fields) or None, "prompt_tokens"),
        "cost_usd": (cost if cost is not None and cost >= 0 else None, "response_cost"),
        "tags": (read_tags(fields.get("request_tags")) or None, "request_tags"),
        "metadata": (
            {key: value for key, value in logged if value and key not in _NOT_KEPT} or None,
            "metadata",
        ),
    }
    for field, (value, place) in others.items():
        if value is not None:
            facts[field] = read_found(value, f"{FORMAT}:{place}")
    return facts


def _name_prompt(findings: Findings, messages: object) -> Findings:
    """The findings with the rule for contexts named by where LiteLLM has them: no template is known."""
    evidence = findings.evidence.get("contexts")
    section = find_section_given(read_turns_given(messages))
    if section is not None and evidence is not None and evidence.rule == f"{FORMAT}:prompt_variables":
        findings.evidence["contexts"] = cite(f"{FORMAT}:{section.role}_message", is_exact=False)
    return findings
