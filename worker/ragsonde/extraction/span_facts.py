"""Facts that any span may carry, whichever convention the rest of it follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

SAMPLING_PROBABILITY = "ragsonde.sampling_probability"
"""With which probability a sampler before us let this trace through, in (0, 1]."""

_NAMES = {"session_id": "session.id", "user_id": "user.id"}


def read_plain_step(span: Span) -> Step:
    """The step of a span that no convention knows: only its place in the tree counts."""
    return Step(
        convention="",
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=StepKind.OTHER,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
    )


def add_span_facts(step: Step, span: Span) -> Step:
    """The step with session, user and sampling probability where only the plain attributes say them.

    A step that failed says so. What it recorded to return is then the text of its error, and that it returned
    nothing no word on what there was: its documents are unknown.
    """
    facts: dict[str, Found] = {}
    for field, attribute in _NAMES.items():
        if attribute in span.attributes and field not in step.facts:
            name = read_name(span.attributes[attribute])
            if name is not None:
                facts[field] = Found(name, cite(f"{step.convention or 'span'}:{attribute}"))
    if SAMPLING_PROBABILITY in span.attributes:
        probability = read_score(span.attributes[SAMPLING_PROBABILITY])
        if probability is not None and 0 < probability <= 1:
            facts["sampling_probability"] = Found(probability, cite(f"span:{SAMPLING_PROBABILITY}"))
    if span.is_error or step.is_error:
        step = replace(step, is_error=True, documents=None)
    return replace(step, facts={**step.facts, **facts}) if facts else step
