"""What a stored trace keeps when late spans come, and what they change of it beside a new revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.open_record import AdmittedRecord, LateEffect
from ragsonde_schemas.trace import TraceKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.decoded import WholeTrace
    from ragsonde_schemas.evaluation import Admission
    from ragsonde_schemas.open_record import ClaimedRecord
    from ragsonde_schemas.trace import Trace

LATE_SPANS = "late spans"
"""What the warning of a record that has all its revisions begins with."""


def list_known_turns(claimed: ClaimedRecord) -> dict[str, str]:
    """The keys of the turns that are stored, by the ids of their roots."""
    return {one.root_span_id: one.turn_key for one in claimed.admitted if one.root_span_id}


def keep_place(trace: Trace, claimed: ClaimedRecord) -> Trace:
    """The trace under the app and day where its first revision is stored.

    Its root may come after it was stored without one, and say another app or time: as another record beside
    the first it would count twice.
    """
    place = _find_place(claimed, trace.record_key)
    if place is None or (place.app, place.occurred_at.date()) == (
        trace.app,
        trace.occurred_at.date(),
    ):
        return trace
    warning = f"app, occurred_at: kept as first stored, app {show_app(place.app)} at {place.occurred_at}"
    extraction = trace.extraction.model_copy(update={"warnings": (*trace.extraction.warnings, warning)})
    return trace.model_copy(
        update={"app": place.app, "occurred_at": place.occurred_at, "extraction": extraction}
    )


def describe_place(
    trace: Trace, admission: Admission, turn: WholeTrace, claimed: ClaimedRecord
) -> AdmittedRecord:
    """What is to be remembered of a record when more of its spans come."""
    known = _find_place(claimed, trace.record_key)
    is_left_out = admission.kind == "over_limit" and known is not None
    return AdmittedRecord(
        record_key=trace.record_key,
        app=trace.app,
        occurred_at=trace.occurred_at,
        turn_key=turn.record_key,
        root_span_id=turn.root.span_id,
        span_count=known.span_count if known is not None and is_left_out else len(turn.spans),
    )


def list_other_places(claimed: ClaimedRecord, turns: Sequence[WholeTrace]) -> list[AdmittedRecord]:
    """The records that are stored, each with the root that its turn has by now."""
    roots = {turn.record_key: turn.root.span_id for turn in turns}
    return [
        one.model_copy(update={"root_span_id": roots.get(one.turn_key, one.root_span_id)})
        for one in claimed.admitted
    ]


def warn_of_late_spans(admission: Admission, turn: WholeTrace, place: AdmittedRecord, stages: Stages) -> None:
    """Says on a record's last revision that it will not get spans that came after it."""
    late = len(turn.spans) - place.span_count
    missing = f"{late} late {'span is' if late == 1 else 'spans are'}"
    if late <= 0:
        missing = "what they say anew of its spans is"
    stages.traces.warn(
        admission.key,
        revision=admission.revision,
        subject=LATE_SPANS,
        text=f"spans came after the last revision that is kept: {missing} not in it",
    )


def withdraw_merged(turns: Sequence[WholeTrace], claimed: ClaimedRecord, stages: Stages) -> bool:
    """Withdraws records of what turned out to be a part of another turn; True where that changed anything."""
    names = {turn.record_key for turn in turns}
    is_changed = False
    for one in claimed.admitted:
        if not one.root_span_id or one.turn_key in names:
            continue
        key = TraceKey(
            app=one.app, trace_id=claimed.trace_id, record_key=one.record_key, day=one.occurred_at.date()
        )
        scores = stages.traces.withdraw(key)
        if scores is not None:
            stages.sink.on_withdrawn(scores)
            is_changed = True
    return is_changed


def name_effect(admissions: Sequence[Admission]) -> LateEffect:
    """What late spans did to the records of their trace."""
    kinds = {admission.kind for admission in admissions}
    if kinds & {"new", "revision"}:
        return LateEffect.REVISION
    return LateEffect.OVER_LIMIT if "over_limit" in kinds else LateEffect.UNCHANGED


def _find_place(claimed: ClaimedRecord, record_key: str) -> AdmittedRecord | None:
    return next((one for one in claimed.admitted if one.record_key == record_key), None)
