"""From a trace to committed rows, with the free judges' scores; from junk to a parked message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.planning import plan_evaluations
from ragsonde.pipeline.stages import timed
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.pipeline.stages import Stages
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.evaluation import Admission
    from ragsonde_schemas.trace import Trace


def admit(trace: Trace, stages: Stages, *, is_newest: bool = False, claims_first: bool = False) -> Admission:
    """Commits a trace with the free judges' scores; what became of it, and what is still to be evaluated.

    Args:
        trace: to commit.
        stages: the path.
        is_newest: it is known to be what its record holds by now, and no old delivery come again.
        claims_first: the caller runs the first evaluation that is still to be run at once.
    """
    with timed("judging_free", stages):
        planned = plan_evaluations(
            trace,
            assignments=stages.assignments,
            sample_rates=stages.sample_rates,
            may_raise=stages.may_raise,
        )
    if stages.backfill_id is not None:
        planned = tuple(one.model_copy(update={"backfill_id": stages.backfill_id}) for one in planned)
    with timed("storage", stages):
        admission = stages.traces.admit(trace, planned, is_newest=is_newest, claims_first=claims_first)
    stages.sink.on_admitted(trace, admission, planned)
    return admission


def park(envelope: Envelope, error: DecodeError, stages: Stages) -> None:
    """Stores a message that cannot become a trace, with the reason and the place."""
    is_new = stages.parking.park(envelope, reason=error.reason, message=str(error), where=error.where)
    tell = stages.sink.on_parked if is_new else stages.sink.on_parked_again
    tell(error.reason)


def describe_fault(error: Exception, *, what: str, where: str) -> DecodeError:
    """Why something is parked after an exception that is nobody's but ours: its kind, never its words.

    Those may hold content of the trace. The traceback is in the log, by `Stages.on_fault`.
    """
    message = f"{type(error).__name__} while {what}; see the log event trace_failed"
    return DecodeError(ParkReason.INTERNAL_ERROR, message, where=where)
