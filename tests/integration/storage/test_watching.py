"""What the page reads, from a real Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_assessment, make_result, make_trace, plan_free, plan_paid
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState as S
from ragsonde_schemas.spending import Limit, Period
from ragsonde_schemas.watched import Place, Sign
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


@pytest.fixture
def watching(stores):
    limits = {"gpt": (Limit(period=Period.DAY, calls=100),)}
    return PostgresWatching(
        stores.engine, clock=stores.clock, limits=limits, comparable=["context_precision"]
    )


def admit(stores, trace_id, *, raw=0.5, insufficient=False, **fields):
    """A trace that the free judge scored with this raw value."""
    assessment = make_assessment().model_copy(update={"insufficient": insufficient})
    result = make_result(raw=raw, assessment=assessment)
    planned = plan_free().model_copy(update={"result": result})
    trace = make_trace(trace_id, **{"environment": "production", **fields})
    return stores.traces.admit(trace, (planned,))


def test_places_come_with_the_busiest_first(stores, watching):
    for number in range(3):
        admit(stores, f"t-{number}")
    stores.clock.advance(60)
    admit(stores, "s-1", environment="staging", contexts=())
    busiest, other = watching.list_places()
    assert (busiest.place.environment, busiest.revisions) == ("production", 3)
    assert (other.place.environment, other.revisions) == ("staging", 1)
    assert other.last_admitted_at == NOON + timedelta(seconds=60)


def test_what_is_older_than_a_day_is_not_shown(stores, watching):
    admit(stores, "old")
    stores.clock.advance(86_401)
    assert watching.list_places() == ()


def test_the_scores_of_one_environment_are_summed(stores, watching):
    for number, raw in enumerate((0.2, 0.4, 0.9)):
        admit(stores, f"t-{number}", raw=raw)
    admit(stores, "s-1", raw=0.0, environment="staging")
    place = watching.read_place(watching.list_places()[0])
    precision = next(one for one in place.scorers if one.instance == "context_precision")
    assert (precision.judge, precision.scorer) == ("lexical", "context_precision:answer")
    assert (precision.n, precision.mean) == (3, pytest.approx(0.5))
    # sample variance of .2, .4, .9: (.09 + .01 + .16) / 2
    assert precision.deviation == pytest.approx(0.13**0.5)
    assert precision.below == 0
    (day,) = precision.days
    assert (day.day, day.n, day.mean) == (NOON.date(), 3, pytest.approx(0.5))
    statements = next(one for one in place.scorers if one.instance == "statement_relevancy")
    assert (statements.n, statements.mean, dict(statements.unscored)) == (0, None, {"not_assessed": 3})


def test_a_superseded_revision_counts_no_more(stores, watching):
    admit(stores, "t-1", raw=0.1)
    admit(stores, "t-1", raw=0.9, answer="Another answer.")
    place = watching.read_place(watching.list_places()[0])
    precision = next(one for one in place.scorers if one.instance == "context_precision")
    assert (precision.n, precision.mean) == (1, pytest.approx(0.9))
    assert [day.mean for day in precision.days] == [pytest.approx(0.9)]


def test_the_lowest_traces_come_lowest_first(stores, watching):
    for number, raw in enumerate((0.5, 0.1, 0.3, 0.2)):
        admit(stores, f"t-{number}", raw=raw)
    place = watching.read_place(watching.list_places()[0])
    assert [(low.trace_id, low.raw) for low in place.lowest] == [("t-1", 0.1), ("t-3", 0.2), ("t-2", 0.3)]
    assert place.lowest[0].reason == "1 of 2 contexts is relevant"


def test_questions_whose_contexts_lack_the_answer_are_counted(stores, watching):
    for number in range(4):
        admit(stores, f"t-{number}", insufficient=number == 0)
    stores.clock.advance(1)
    (one,) = watching.read_place(watching.list_places()[0]).counts
    assert (one.judge, one.evaluations, one.assessed, one.insufficient) == ("lexical", 4, 4, 1)


def leave_empty(stores, trace_id, **fields):
    """A trace whose retrieval returned nothing."""
    result = make_result(S.NOT_EVALUABLE).model_copy(update={"cause": Cause.EMPTY_RETRIEVAL})
    planned = plan_free().model_copy(update={"state": S.NOT_EVALUABLE, "result": result})
    trace = make_trace(trace_id, **{"environment": "production", **fields})
    return stores.traces.admit(trace, (planned,))


def test_an_alert_shows_now_beside_the_day_and_the_week_before(stores, watching):
    for hours, bad in ((48, 1), (10, 1), (0, 2)):
        stores.clock.advance(3600 * (48 - hours) - (stores.clock.now() - NOON).total_seconds())
        for number in range(2):
            admit(stores, f"good-{hours}-{number}")
        for number in range(bad):
            leave_empty(stores, f"bad-{hours}-{number}", release="2.4.0")
    stores.clock.advance(60)
    evidence = watching.read_alert(Place(app="shop", environment="production"), sign=Sign.EMPTY_RETRIEVAL)
    assert [(one.evaluations, dict(one.causes)) for one in evidence.windows] == [
        (4, {"empty_retrieval": 2}),
        (3, {"empty_retrieval": 1}),
        (3, {"empty_retrieval": 1}),
    ]
    assert [one.trace_id for one in evidence.examples] == ["bad-0-0", "bad-0-1", "bad-10-0"]
    assert evidence.examples[0].release == "2.4.0"


@pytest.mark.parametrize("sign", list(Sign))
def test_every_sign_is_found_by_its_own_traces(stores, watching, sign):
    admit(stores, "insufficient", insufficient=True)
    leave_empty(stores, "empty")
    failed = plan_free().model_copy(update={"state": S.FAILED, "result": make_result(S.FAILED)})
    stores.traces.admit(make_trace("failed", environment="production"), (failed,))
    stores.traces.admit(make_trace("waiting", environment="production"), (plan_paid(),))
    missing = make_result(S.NOT_EVALUABLE).model_copy(update={"cause": Cause.NO_CONTEXT})
    unknown = plan_free().model_copy(update={"state": S.NOT_EVALUABLE, "result": missing})
    stores.traces.admit(make_trace("no-context", environment="production"), (unknown,))
    admit(stores, "elsewhere", insufficient=True, environment="staging")
    expected = {
        Sign.EMPTY_RETRIEVAL: ["empty"],
        Sign.NO_CONTEXT: ["no-context"],
        Sign.INSUFFICIENT: ["insufficient"],
        Sign.FAILED: ["failed"],
        Sign.LEFT_OUT: ["waiting"],
        Sign.NONE: [],
    }
    evidence = watching.read_alert(Place(app="shop", environment="production"), sign=sign)
    assert [one.trace_id for one in evidence.examples] == expected[sign]


def test_what_waits_is_counted(stores, watching):
    stores.traces.admit(make_trace("t-1", environment="production"), (plan_free(), plan_paid()))
    assert watching.read_place(watching.list_places()[0]).waiting == 1


def test_a_trace_is_read_whole_and_an_unknown_one_is_empty(stores, watching):
    admit(stores, "t-1")
    assert watching.read_trace("t-1").revisions[0].trace.trace_id == "t-1"
    assert watching.read_trace("t-2").revisions == ()


def test_spending_stands_beside_its_limit(watching):
    (spending,) = watching.list_spending()
    assert (spending.judge, spending.spent.calls, spending.limit.calls) == ("gpt", 0, 100)


def test_the_ledger_is_of_one_app_or_of_all(stores, watching):
    admit(stores, "t-1")
    admit(stores, "h-1", app="help")
    assert watching.read_ledger().revisions == 2
    one = watching.read_ledger("help")
    assert (one.revisions, dict(one.judges["lexical"])) == (1, {"scored": 1})
