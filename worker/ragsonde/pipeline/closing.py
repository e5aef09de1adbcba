"""From gathered spans to admitted traces: a trace that is due is closed, and closed again for late spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
from ragsonde.pipeline.turns import claiming_in_turn
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
    """As `close_record`; an exception parks the trace by name and leaves the others of its message alone.

    The sweeper brings it again when its lease is over.

    Raises:
        DatabaseLostError: call again.
    """
    try:
        return close_record(key, stages)
    except DatabaseLostError:
        raise
    except Exception as error:  # noqa: BLE001  # of one trace
        _park_fault(error, key.trace_id, stages)
        return ()


def close_record(key: OpenRecordKey, stages: Stages) -> tuple[EvaluationKey, ...]:
    """Closes a trace that is due: its records are admitted; the keys of the evaluations still to be run.

    Not due, or in another worker's hands: nothing. Spans that come meanwhile keep it open, so that it is
    closed once more. A record that cannot be read or stored is parked under the trace's name, and the trace's
    others go on; where that was a fault of ours, all is tried again when the lease is over, twice.

    Raises:
        DatabaseLostError: call again.
    """
    with claiming_in_turn(stages.spans, key.trace_id, stages.isolation) as claimed:
        return () if claimed is None else _close_claimed(claimed, stages)


def _close_claimed(claimed: ClaimedRecord, stages: Stages) -> tuple[EvaluationKey, ...]:
    if claimed.unfinished_claims >= CLAIMS_BEFORE_PARKING:
        _give_up(claimed, stages)
        return ()
    if claimed.is_expired:
        stages.sink.on_late_spans(LateEffect.EXPIRED)
        stages.spans.settle(claimed, admitted=())
        return ()
    return _admit_all(claimed, stages, deadline=stages.clock.monotonic() + stages.deadline_seconds)


class _Done(NamedTuple):
    """What came of a trace's records so far."""

    admissions: list[Admission]
    places: list[AdmittedRecord]
    faults: list[ParkReason]
    filtered: set[FilterCause]


def _admit_all(claimed: ClaimedRecord, stages: Stages, *, deadline: float) -> tuple[EvaluationKey, ...]:
    turns, faults = _gather_turns(claimed, stages)
    done = _Done([], [], faults, set())
    for turn in turns:
        if not _admit_turn(turn, claimed, stages, done=done, deadline=deadline):
            return ()
    pending = tuple(key for admission in done.admissions for key in admission.pending)
    if ParkReason.INTERNAL_ERROR in faults and claimed.unfinished_claims < CLAIMS_BEFORE_PARKING - 1:
        return pending
    is_merged = not faults and withdraw_merged(turns, claimed, stages)
    if stages.spans.settle(claimed, admitted=[*list_other_places(claimed, turns), *done.places]):
        stages.sink.on_closed(claimed.reason)
        if claimed.closed_before:
            stages.sink.on_late_spans(LateEffect.REVISION if is_merged else name_effect(done.admissions))
        elif not done.admissions and not faults:
            is_judges = FilterCause.JUDGE_CALL in done.filtered
            stages.sink.on_filtered(FilterCause.JUDGE_CALL if is_judges else FilterCause.NOT_RAG)
    return pending


def _admit_turn(
    turn: WholeTrace, claimed: ClaimedRecord, stages: Stages, *, done: _Done, deadline: float
) -> bool:
    """False when the deadline has passed: another worker may know more spans, and its must stay the newer."""
    try:
        reading = read_traces(turn, stages, receipt=Receipt(received_at=claimed.first_received_at))
        if reading.filtered is not None:
            done.filtered.add(reading.filtered)
        for trace in reading.traces:
            if stages.clock.monotonic() >= deadline:
                return False
            placed = keep_place(trace, claimed)
            admission = admit(placed, stages, is_newest=True)
            if admission.kind == "forgotten":
                # its spans are gone, and what is known of it with them
                done.admissions.append(admission)
                continue
            place = describe_place(placed, admission, turn, claimed)
            done.admissions.append(admission)
            done.places.append(place)
            if admission.kind == "over_limit":
                warn_of_late_spans(admission, turn, place, stages)
    except DatabaseLostError:
        raise
    except Exception as error:  # noqa: BLE001  # of one record: the trace's others go on
        done.faults.append(_park_fault(error, claimed.trace_id, stages))
    return True


def _gather_turns(claimed: ClaimedRecord, stages: Stages) -> tuple[tuple[WholeTrace, ...], list[ParkReason]]:
    """The trace's turns; or none, and why the trace was parked."""
    if claimed.fault:
        unreadable = DecodeError(ParkReason.INTERNAL_ERROR, claimed.fault, where="spans")
        return (), [_park_fault(unreadable, claimed.trace_id, stages)]
    try:
        turns = gather_records(
            claimed.spans,
            format_name=claimed.format,
            warnings=claimed.warnings,
            known_turns=list_known_turns(claimed),
        )
    except Exception as error:  # noqa: BLE001  # of one trace
        return (), [_park_fault(error, claimed.trace_id, stages)]
    return turns, []


def _park_fault(error: Exception, trace_id: str, stages: Stages) -> ParkReason:
    """Parks the trace under its name for what it, or one of its records, met."""
    if not isinstance(error, DecodeError):
        stages.on_fault(error, trace_id)
        error = describe_fault(error, what=f"closing trace {trace_id}", where="spans")
    park(wrap_spans(trace_id, stages), error, stages)
    return error.reason


def wrap_spans(trace_id: str, stages: Stages) -> Envelope:
    """A message that names the trace, so that one that cannot be closed is parked like any other."""
    body = OpenRecordKey(trace_id=trace_id).model_dump_json().encode()
    return Envelope(
        body=body,
        body_bytes=len(body),
        content_type="application/json",
        message_key=f"spans:{trace_id}"[:200],
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
    park(wrap_spans(claimed.trace_id, stages), error, stages)
    stages.spans.settle(claimed, admitted=())
