"""From gathered spans to admitted traces: a trace that is due is closed, and closed again for late spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.assembly.records import gather_records
from ragsonde.pipeline.admitting import admit, park
from ragsonde.pipeline.reading import read_traces
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.open_record import AdmittedRecord, FilterCause, LateEffect, OpenRecordKey

if TYPE_CHECKING:
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.evaluation import Admission, EvaluationKey
    from ragsonde_schemas.open_record import ClaimedRecord
    from ragsonde_schemas.trace import Trace

CLAIMS_BEFORE_PARKING = 4
"""One that was claimed three times and never settled ends its process, or meets a fault of ours."""


def close_record(key: OpenRecordKey, stages: Stages) -> tuple[EvaluationKey, ...]:
    """Closes a trace that is due: its records are admitted; the keys of the evaluations still to be run.

    Not due, or in another worker's hands: nothing. Spans that come meanwhile keep it open, so that it is
    closed once more.

    Raises:
        DatabaseLostError: call again.
    """
    deadline = stages.clock.monotonic() + stages.deadline_seconds
    claimed = stages.spans.claim(key.trace_id)
    if claimed is None:
        return ()
    if claimed.unfinished_claims >= CLAIMS_BEFORE_PARKING:
        _give_up(claimed, stages)
        return ()
    if claimed.is_expired:
        stages.sink.on_late_spans(LateEffect.EXPIRED)
        stages.spans.settle(claimed, admitted=())
        return ()
    with stages.isolation.hold(alone=claimed.unfinished_claims > 1):
        return _admit_all(claimed, stages, deadline=deadline)


def _admit_all(claimed: ClaimedRecord, stages: Stages, *, deadline: float) -> tuple[EvaluationKey, ...]:
    admissions: list[Admission] = []
    places: list[AdmittedRecord] = []
    for trace in _read_claimed(claimed, stages):
        if stages.clock.monotonic() >= deadline:
            # the lease may be over, and another worker may know more spans: what it admits must stay newer
            return ()
        placed = keep_place(trace, claimed)
        admissions.append(admit(placed, stages))
        places.append(
            AdmittedRecord(record_key=placed.record_key, app=placed.app, occurred_at=placed.occurred_at)
        )
    if stages.spans.settle(claimed, admitted=places):
        stages.sink.on_closed(claimed.reason)
        if claimed.closed_before:
            stages.sink.on_late_spans(_name_effect(admissions))
        elif not admissions:
            stages.sink.on_filtered(FilterCause.NOT_RAG)
    return tuple(key for admission in admissions for key in admission.pending)


def _read_claimed(claimed: ClaimedRecord, stages: Stages) -> list[Trace]:
    """The traces of all root turns; one that cannot be read is parked and leaves the others alone."""
    receipt = Receipt(received_at=claimed.first_received_at)
    traces: list[Trace] = []
    for whole in gather_records(claimed.spans, format_name=claimed.format, warnings=claimed.warnings):
        try:
            traces += read_traces(whole, stages, receipt=receipt)
        except DecodeError as error:
            park(wrap_spans(claimed, stages), error, stages)
    return traces


def keep_place(trace: Trace, claimed: ClaimedRecord) -> Trace:
    """The trace under the app and day where its first revision is stored.

    Its root may come after it was stored without one, and say another app or time: as another record beside
    the first it would count twice.
    """
    place = next((one for one in claimed.admitted if one.record_key == trace.record_key), None)
    if place is None or (place.app, place.occurred_at.date()) == (
        trace.app,
        trace.occurred_at.date(),
    ):
        return trace
    warning = f"app, occurred_at: kept as first stored, app {place.app or 'default'} at {place.occurred_at}"
    extraction = trace.extraction.model_copy(update={"warnings": (*trace.extraction.warnings, warning)})
    return trace.model_copy(
        update={"app": place.app, "occurred_at": place.occurred_at, "extraction": extraction}
    )


def wrap_spans(claimed: ClaimedRecord, stages: Stages) -> Envelope:
    """A message that names the trace, so that one that cannot be closed is parked like any other."""
    body = OpenRecordKey(trace_id=claimed.trace_id).model_dump_json().encode()
    return Envelope(
        body=body,
        body_bytes=len(body),
        content_type="application/json",
        message_key=f"spans:{claimed.trace_id}"[:200],
        received_at=stages.clock.now(),
        queue="ragsonde.work",
    )


def _give_up(claimed: ClaimedRecord, stages: Stages) -> None:
    error = DecodeError(
        ParkReason.REPEATED_CRASH,
        f"{claimed.unfinished_claims - 1} attempts to evaluate these {len(claimed.spans)} spans ended "
        f"neither well nor badly; trace={claimed.trace_id}; see the log event delivery_failed",
        where="spans",
    )
    park(wrap_spans(claimed, stages), error, stages)
    stages.spans.settle(claimed, admitted=())


def _name_effect(admissions: list[Admission]) -> LateEffect:
    kinds = {admission.kind for admission in admissions}
    if kinds & {"new", "revision"}:
        return LateEffect.REVISION
    return LateEffect.OVER_LIMIT if "over_limit" in kinds else LateEffect.UNCHANGED
