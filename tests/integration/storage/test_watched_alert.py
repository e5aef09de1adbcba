"""What lies behind an alert, from a real Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_result, make_trace, plan_free, plan_paid
from fakes.watched_traces import SHOP, admit, leave, leave_empty
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState as S
from ragsonde_schemas.trace import Extraction, FieldEvidence
from ragsonde_schemas.watched_list import Sign
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def stores(own_engine):  # what is sampled goes by the size of the files: none may be left of earlier rows
    return PostgresStores(FakeClock(), own_engine)


@pytest.fixture
def watching(stores):
    return PostgresWatching(stores.engine, clock=stores.clock, limits={}, comparable=["context_precision"])


def test_now_stands_beside_the_day_and_the_week_before(stores, watching):
    for hours, bad in ((48, 1), (10, 1), (0.5, 2)):
        occurred_at = NOON - timedelta(hours=hours)
        for number in range(2):
            admit(stores, f"good-{hours}-{number}", occurred_at=occurred_at)
        for number in range(bad):
            leave_empty(stores, f"bad-{hours}-{number}", release="2.4.0", occurred_at=occurred_at)
    evidence = watching.read_alert(SHOP, sign=Sign.EMPTY_RETRIEVAL)
    assert [(one.counts.looked_at, dict(one.counts.causes)) for one in evidence.windows] == [
        (4, {"empty_retrieval": 2}),
        (3, {"empty_retrieval": 1}),
        (3, {"empty_retrieval": 1}),
    ]
    assert [one.counts.assessed for one in evidence.windows] == [2, 2, 2]
    assert {one.trace_id for one in evidence.examples} == {"bad-0.5-0", "bad-0.5-1", "bad-10-0"}
    assert evidence.examples[0].release == "2.4.0"


def test_what_a_sample_left_out_is_no_part_of_what_was_looked_at(stores, watching):
    for number in range(9):
        leave(stores, f"s-{number}", S.SAMPLED_OUT)
    for number in range(3):
        leave(stores, f"f-{number}", S.FAILED)
    evidence = watching.read_alert(SHOP, sign=Sign.LEFT_OUT)
    (window,) = evidence.windows
    assert (window.counts.looked_at, dict(window.counts.causes)) == (3, {"not_assessed": 3})
    assert {one.trace_id for one in evidence.examples} == {"f-0", "f-1", "f-2"}
    assert (evidence.examples[0].state, evidence.examples[0].cause) == ("failed", Cause.NOT_ASSESSED)


@pytest.mark.parametrize("sign", list(Sign))
def test_every_sign_is_found_by_its_own_traces(stores, watching, sign):
    admit(stores, "insufficient", insufficient=True)
    leave_empty(stores, "empty")
    leave(stores, "failed", S.FAILED)
    leave(stores, "shed", S.SHED)
    leave(stores, "waiting", S.WAITING)
    leave(stores, "outside", S.SAMPLED_OUT)
    missing = make_result(S.NOT_EVALUABLE).model_copy(update={"cause": Cause.NO_CONTEXT})
    unknown = plan_free().model_copy(update={"state": S.NOT_EVALUABLE, "result": missing})
    stores.traces.admit(make_trace("no-context", environment="production"), (unknown,))
    admit(stores, "elsewhere", insufficient=True, environment="staging")
    expected = {
        Sign.EMPTY_RETRIEVAL: {"empty"},
        Sign.NO_CONTEXT: {"no-context"},
        Sign.INSUFFICIENT: {"insufficient"},
        Sign.FAILED: {"failed"},
        Sign.LEFT_OUT: {"failed", "shed", "waiting"},
        Sign.NONE: set(),
    }
    evidence = watching.read_alert(SHOP, sign=sign)
    assert {one.trace_id for one in evidence.examples} == expected[sign]


def test_examples_are_of_all_apps_where_none_is_named(stores, watching):
    leave(stores, "t-1", S.FAILED)
    leave(stores, "h-1", S.FAILED, app="help", environment="staging")
    evidence = watching.read_alert(None, sign=Sign.FAILED)
    assert {(one.app, one.trace_id) for one in evidence.examples} == {("shop", "t-1"), ("help", "h-1")}
    assert [one.counts.states for one in evidence.windows] == [{"failed": 2}]
    assert evidence.scorers == ()


def test_a_trace_that_two_judges_show_is_listed_once(stores, watching):
    failed = {"state": S.FAILED, "result": make_result(S.FAILED)}
    plans = (plan_free().model_copy(update=failed), plan_paid().model_copy(update=failed))
    stores.traces.admit(make_trace("t-1", environment="production"), plans)
    assert len(watching.read_alert(SHOP, sign=Sign.FAILED).examples) == 1


def test_the_scores_of_the_last_hour_stand_apart(stores, watching):
    admit(stores, "t-1", raw=0.9, occurred_at=NOON - timedelta(hours=3))
    admit(stores, "t-2", raw=0.2, occurred_at=NOON - timedelta(minutes=20))
    evidence = watching.read_alert(SHOP, sign=Sign.NONE)
    precision = next(one for one in evidence.scorers if one.stream.scorer == "context_precision")
    assert (precision.n, precision.mean, precision.bins[1]) == (1, pytest.approx(0.2), 1)


def test_of_an_hour_with_many_traces_a_part_is_looked_at(stores, watching, monkeypatch):
    monkeypatch.setattr("ragsonde.storage.watching.ALERT_TRACES", 25)
    for number in range(50):
        admit(stores, f"t-{number}", raw=0.5, occurred_at=NOON - timedelta(minutes=20))
    evidence = watching.read_alert(SHOP, sign=Sign.NONE)
    precision = next(one for one in evidence.scorers if one.stream.scorer == "context_precision")
    assert (precision.share, precision.mean) == (0.5, 0.5)
    assert 5 < precision.n < 45  # 25 of 50, each by a fair coin: 5.6 standard deviations


def extract(rule):
    fields = {"query": FieldEvidence(rule=rule, confidence="stated")}
    return Extraction(format="native", fields=fields)


def test_what_was_not_there_in_the_week_before_is_new(stores, watching):
    earlier, recent = NOON - timedelta(days=3), NOON - timedelta(hours=2)
    admit(stores, "t-1", release="2.3.0", extraction=extract("old"), occurred_at=earlier)
    admit(stores, "t-2", release="2.3.0", extraction=extract("old"), occurred_at=recent)
    assert watching.read_alert(SHOP, sign=Sign.NONE).changes == ()
    admit(
        stores,
        "t-3",
        release="2.4.0",
        extraction=extract("new"),
        occurred_at=recent,
        plan={"fingerprint": "ff" * 8},
    )
    changes = watching.read_alert(SHOP, sign=Sign.NONE).changes
    assert {(one.kind.value, one.name, one.since) for one in changes} == {
        ("release", "2.4.0", recent),
        ("rule", "query by new", recent),
        ("judge", "lexical@ffffff", recent),
    }
    assert watching.read_alert(None, sign=Sign.NONE).changes == changes


def test_of_a_place_that_is_itself_new_nothing_is_named(stores, watching):
    admit(stores, "t-1", release="2.3.0")
    assert watching.read_alert(SHOP, sign=Sign.NONE).changes == ()


def test_a_model_that_answers_since_an_hour_and_a_version_that_counts_are_new(stores, watching):
    with stores.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO judge_epoch VALUES ('gpt', :print, 'gpt-6', 2, :since)"),
            {"print": "f" * 16, "since": NOON - timedelta(hours=1)},
        )
        connection.execute(
            text("INSERT INTO scorer_version VALUES ('context_precision', '2', true, :since)"),
            {"since": NOON - timedelta(hours=2)},
        )
    changes = watching.read_alert(None, sign=Sign.NONE).changes
    assert [(one.kind.value, one.name) for one in changes] == [
        ("model", "gpt@ffffff.2: gpt-6"),
        ("version", "context_precision 2"),
    ]
