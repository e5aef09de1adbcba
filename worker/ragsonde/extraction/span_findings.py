"""The fields of a trace of spans, by the conventions that their attributes follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragsonde.extraction.conventions.table import read_step
from ragsonde.extraction.occurrence import read_nanoseconds
from ragsonde.extraction.resource_names import find_resource_names
from ragsonde.extraction.span_facts import add_span_facts, read_plain_step
from ragsonde.extraction.span_warnings import read_warnings
from ragsonde.extraction.step_findings import DEFAULT_OPTIONS, find_in_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.extraction.findings import Findings
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde.extraction.steps import Step
    from ragsonde_schemas.decoded import WholeTrace
    from ragsonde_schemas.span import Span


def find_in_spans(
    record: WholeTrace, *, options: RetrievalOptions = DEFAULT_OPTIONS, is_known: bool = False
) -> tuple[Findings, ...]:
    """The fields of a record, several with `per_step`; () where no convention knows any of its spans.

    Args:
        record: whole.
        options: which of several retrievals are judged.
        is_known: it is read even if no convention knows it: mappings of the user's may.
    """
    steps = read_steps(record.spans)
    if not is_known and not any(step.convention for step in steps):
        return ()
    root = record.root
    resources = (root.resource, *(span.resource for span in record.spans))
    return find_in_steps(
        [_name_root(step, resources) if step.id == root.span_id else step for step in steps],
        format_name=record.format,
        trace_id=root.trace_id,
        record_key=record.record_key,
        claimed_at=read_nanoseconds(root.start_ns),
        latency_ms=_measure_latency(root),
        options=options,
        warnings=(*record.warnings, *read_warnings(record.spans)),
    )


def read_steps(spans: Iterable[Span]) -> tuple[Step, ...]:
    """A step for each span; those that no convention knows have an empty `convention`."""
    return tuple(add_span_facts(read_step(span) or read_plain_step(span), span) for span in spans)


def _name_root(step: Step, resources: Iterable[dict[str, object]]) -> Step:
    """The root with the names of the resource, which go before what a convention only derives."""
    names = find_resource_names(resources)
    exact = {
        name: fact
        for name, fact in step.facts.items()
        if fact.evidence is None or fact.evidence.confidence == "exact"
    }
    return replace(step, facts={**step.facts, **names, **exact})


def _measure_latency(root: Span) -> float | None:
    if not 0 < root.start_ns <= root.end_ns:
        return None
    return (root.end_ns - root.start_ns) / 1e6
