"""From gathered spans to admitted traces: a trace that is due is closed, and closed again for late spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.assembly.records import gather_records
from ragsonde.pipeline.admitting import admit, describe_fault, park
from ragsonde.pipeline.late_spans import (
    describe_place,
    keep_place,
    list_known_turns,
    list_other_places,
    name_effect,
    warn_of_late_spans,
    withdraw_merged,
)
from ragsonde.pipeline.reading import read_traces
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DatabaseLostError, DecodeError, ParkReason
from ragsonde_schemas.open_record import FilterCause, LateEffect, OpenRecordKey

if TYPE_CHECKING:
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.decoded import WholeTrace
    from ragsonde_schemas.evaluation import Admission, EvaluationKey
    from ragsonde_schemas.open_record import AdmittedRecord, ClaimedRecord

CLAIMS_BEFORE_PARKING = 4
"""One that was claimed three times and never settled ends its process, or meets a fault of ours."""


def close_sparing_others(key: OpenRecordKey, stages: Stages) -> tuple[EvaluationKey, ...]:
    """As `close_record`; an exception leaves the trace to the sweeper, and the others of its message alone.

    Raises:
        DatabaseLostError: call again.
    """
    try:
        return close_record(key, stages)
    except DatabaseLostError:
        raise
    except Exception as error:  # noqa: BLE001  # its claims are counted: at the fourth it is parked
        stages.on_fault(error, key.trace_id)
        return ()


def close_record(key: OpenRecordKey, stages: Stages) -> tuple[EvaluationKey, ...]:
    """Closes a trace that is due: its records are admitted; the keys of the evaluations still to be run.

    Not due, or in another worker's hands: nothing. Spans that come meanwhile keep it open, so that it is
    closed once more. A record that cannot be read or stored is parked, and the trace's others go on.

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
    turns, is_faulty = _gather_turns(claimed, stages), False
    admissions: list[Admission] = []
    places: list[AdmittedRecord] = []
    for turn in turns or ():
        try:
            for trace in read_traces(turn, stages, receipt=Receipt(received_at=claimed.first_received_at)):
                if stages.clock.monotonic() >= deadline:
                    # the lease may be over, and another worker may know more spans: its must stay the newer
                    return ()
                placed = keep_place(trace, claimed)
                admissions.append(admit(placed, stages))
                places.append(describe_place(placed, admissions[-1], turn, claimed))
                if admissions[-1].kind == "over_limit":
                    warn_of_late_spans(admissions[-1], turn, places[-1], stages)
        except DatabaseLostError:
            raise
        except Exception as error:  # noqa: BLE001  # of one record: the trace's others go on
            is_faulty = True
            _park_fault(error, claimed, stages)
    is_complete = turns is not None and not is_faulty
    is_merged = is_complete and withdraw_merged(turns or (), claimed, stages)
    if stages.spans.settle(claimed, admitted=[*list_other_places(claimed, turns or ()), *places]):
        stages.sink.on_closed(claimed.reason)
        if claimed.closed_before:
            stages.sink.on_late_spans(LateEffect.REVISION if is_merged else name_effect(admissions))
        elif is_complete and not admissions:
            stages.sink.on_filtered(FilterCause.NOT_RAG)
    return tuple(key for admission in admissions for key in admission.pending)


def _gather_turns(claimed: ClaimedRecord, stages: Stages) -> tuple[WholeTrace, ...] | None:
    """The trace's turns; None where its spans could not be read, and it is parked."""
    if claimed.fault:
        park(wrap_spans(claimed, stages), DecodeError(ParkReason.INTERNAL_ERROR, claimed.fault), stages)
        return None
    try:
        return gather_records(
            claimed.spans,
            format_name=claimed.format,
            warnings=claimed.warnings,
            known_turns=list_known_turns(claimed),
        )
    except Exception as error:  # noqa: BLE001  # of one trace
        _park_fault(error, claimed, stages)
        return None


def _park_fault(error: Exception, claimed: ClaimedRecord, stages: Stages) -> None:
    """Parks the trace under its name for what one of its records met."""
    if not isinstance(error, DecodeError):
        stages.on_fault(error, claimed.trace_id)
        what = f"reading the {len(claimed.spans)} spans of trace {claimed.trace_id}"
        error = describe_fault(error, what=what, where="spans")
    park(wrap_spans(claimed, stages), error, stages)


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
