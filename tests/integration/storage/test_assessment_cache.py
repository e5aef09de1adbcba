"""Which verdicts of earlier are found again, in Postgres."""

from __future__ import annotations

import pytest

from fakes.evaluations import PAID_PRINT, make_assessment, make_result
from ragsonde.storage.assessment_cache import PostgresAssessmentCache
from ragsonde_schemas.assessment import Aspect, Fault
from ragsonde_schemas.errors import Cause
from services.budget_desk import Desk

pytestmark = pytest.mark.integration


def keep(engine, **changes):
    """An assessment, stored and looked for."""
    desk = Desk(engine)
    claimed = desk.claim()
    assessment = make_assessment().model_copy(update={"faults": {}, "truncated": False, **changes})
    desk.stores.traces.finish(claimed, make_result().model_copy(update={"assessment": assessment}))
    found = PostgresAssessmentCache(engine).find(PAID_PRINT, claimed.trace.content_hash)
    return assessment, found


def test_verdicts_without_a_fault_are_found(engine):
    kept, found = keep(engine)
    assert found is not None
    assert (found.contexts, found.missing) == (kept.contexts, kept.missing)


@pytest.mark.parametrize(
    "changes",
    [
        {"truncated": True},
        {"faults": {Aspect.MISSING: Fault(cause=Cause.INVALID_REPLY, message="key miss is missing")}},
        {"answered_fingerprint": "b" * 16},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_not_whole_or_not_this_models_is_not_found(engine, changes):
    assert keep(engine, **changes)[1] is None


def test_other_content_is_not_found(engine):
    keep(engine)
    assert PostgresAssessmentCache(engine).find(PAID_PRINT, "c" * 64) is None
