"""From a message's spans to the buffer: traces that are due, and those that could not be taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.assembly.records import is_whole
from ragsonde.pipeline.admitting import describe_fault
from ragsonde.pipeline.stages import timed
from ragsonde.redaction.spans import protect_spans
from ragsonde_schemas.errors import DatabaseLostError
from ragsonde_schemas.open_record import LateEffect, OpenRecordKey
from ragsonde_schemas.redaction import Replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.decoded import Decoded
    from ragsonde_schemas.errors import DecodeError
    from ragsonde_schemas.open_record import AbsorbedTrace
    from ragsonde_schemas.span import Span


class Absorbed(NamedTuple):
    """What became of a message's spans.

    Attributes:
        due: keys of the traces that are due now.
        faults: why others are not stored.
        brought_spans: at least one was new, or fuller than the stored one.
    """

    due: list[OpenRecordKey]
    faults: list[DecodeError]
    brought_spans: bool = False


def absorb(decoded: Decoded, stages: Stages) -> Absorbed:
    """Stores a message's spans.

    Raises:
        DatabaseLostError: call again; what is stored is found stored.
    """
    by_trace: dict[str, list[Span]] = {}
    kept = protect_spans(decoded.spans, stages.privacy) if decoded.spans else Replaced((), {})
    stages.privacy.on_redacted(kept.counts)
    for span in kept.value:
        by_trace.setdefault(span.trace_id, []).append(span)
    if not by_trace:
        return Absorbed([], [])
    with timed("assembly", stages):
        whole = frozenset(trace_id for trace_id, spans in by_trace.items() if _is_whole(spans, stages))
        absorbed, faults = _absorb_all(by_trace, decoded.format, whole, stages)
    for trace in absorbed:
        if trace.refused_spans:
            stages.sink.on_late_spans(LateEffect.OVER_LIMIT)
        if trace.is_forgotten:
            stages.sink.on_late_spans(LateEffect.FORGOTTEN)
    return Absorbed(
        due=[OpenRecordKey(trace_id=trace.trace_id) for trace in absorbed if trace.is_due],
        faults=faults,
        brought_spans=any(trace.new_spans for trace in absorbed),
    )


def _is_whole(spans: Sequence[Span], stages: Stages) -> bool:
    """False also where that cannot be told: such a trace waits for more, and is parked if it fails again."""
    try:
        return is_whole(spans)
    except Exception as error:  # noqa: BLE001  # of one trace: the others of its message go on
        stages.on_fault(error, spans[0].trace_id)
        return False


def _absorb_all(
    by_trace: dict[str, list[Span]], format_name: str, whole: frozenset[str], stages: Stages
) -> tuple[list[AbsorbedTrace], list[DecodeError]]:
    """All in one transaction; if that fails, each trace in its own: one keeps out no other."""
    spans = [span for group in by_trace.values() for span in group]
    try:
        return stages.spans.absorb(spans, format_name=format_name, whole=whole), []
    except DatabaseLostError:
        raise
    except Exception as error:  # noqa: BLE001  # told below, of the trace that met it
        if len(by_trace) == 1:
            (trace_id,) = by_trace
            stages.on_fault(error, trace_id)
            return [], [describe_fault(error, what=f"storing the spans of trace {trace_id}", where="spans")]
    absorbed: list[AbsorbedTrace] = []
    faults: list[DecodeError] = []
    for trace_id, group in by_trace.items():
        stored, failed = _absorb_all({trace_id: group}, format_name, whole & {trace_id}, stages)
        absorbed += stored
        faults += failed
    return absorbed, faults
