"""What people and the monitor read: history, summaries, ledger, current scores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    FREE,
    PAID,
    make_assessment,
    make_calls,
    make_full_trace,
    make_outage_call,
    make_outcomes,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from ragsonde.storage.engine import build_engine
from ragsonde.storage.history import read_history
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.partitions import drop_expired
from ragsonde.storage.recent_scores import summarise_scores
from ragsonde.storage.tables import CURRENT_SCORE
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
S = EvaluationState


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


class TestHistory:
    def test_it_tells_everything_of_a_trace(self, stores):
        trace = make_full_trace()
        result = make_result(assessment=make_assessment(calls=make_calls()))
        admission = stores.traces.admit(trace, (plan_free(), plan_paid()))
        stores.clock.advance(5)
        stores.traces.finish(stores.traces.claim(admission.pending[0]), result)
        history = read_history(stores.engine, trace.trace_id)
        (revision,) = history.revisions
        assert (revision.key, revision.revision, revision.trace) == (trace.key, 1, trace)
        assert (revision.admitted_at, revision.occurred_at) == (NOON, NOON)
        paid, free = revision.evaluations
        assert (paid.state, paid.starts, paid.calls, paid.tokens_in) == (S.SCORED, 1, 2, 3200)
        assert (paid.tokens_out, paid.cost_usd, paid.sample_rate) == (170, 0.0025, 0.05)
        assert (paid.created_at, paid.finished_at) == (NOON, NOON + timedelta(seconds=5))
        assert paid.assessment == result.assessment
        assert paid.outcomes == make_outcomes()
        assert (free.key.judge, free.calls, free.cost_usd, free.assessment) == (FREE, 0, 0, make_assessment())

    def test_the_spending_of_all_runs_is_added_up_and_outages_have_no_price(self, stores):
        first, second = make_calls()
        claimed = stores.traces.claim(stores.traces.admit(make_trace(), (plan_paid(),)).pending[0])
        stores.traces.postpone(
            claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE, calls=(first, make_outage_call())
        )
        (waiting,) = read_history(stores.engine, "t-1").revisions[0].evaluations
        assert (waiting.calls, waiting.tokens_in, waiting.tokens_out, waiting.cost_usd) == (
            2,
            1500,
            80,
            0.001,
        )
        result = make_result(assessment=make_assessment(calls=(second,)))
        stores.traces.finish(stores.traces.claim(claimed.key), result)
        (scored,) = read_history(stores.engine, "t-1").revisions[0].evaluations
        assert (scored.calls, scored.tokens_in, scored.tokens_out) == (3, 3200, 170)
        assert scored.cost_usd == pytest.approx(0.0025)
        assert scored.replies == (first, make_outage_call(), second)

    def test_a_price_that_one_run_did_not_tell_stays_unknown(self, stores):
        unknown = make_calls()[0].model_copy(update={"cost_usd": None})
        claimed = stores.traces.claim(stores.traces.admit(make_trace(), (plan_paid(),)).pending[0])
        stores.traces.postpone(claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE, calls=(unknown,))
        result = make_result(assessment=make_assessment(calls=make_calls()))
        stores.traces.finish(stores.traces.claim(claimed.key), result)
        (evaluation,) = read_history(stores.engine, "t-1").revisions[0].evaluations
        assert (evaluation.cost_usd, evaluation.tokens_in) == (None, 4700)

    def test_an_unknown_price_is_not_0(self, stores):
        calls = (make_calls()[0], make_calls()[1].model_copy(update={"cost_usd": None}))
        claimed = stores.traces.claim(stores.traces.admit(make_trace(), (plan_paid(),)).pending[0])
        stores.traces.finish(claimed, make_result(assessment=make_assessment(calls=calls)))
        (evaluation,) = read_history(stores.engine, "t-1").revisions[0].evaluations
        assert (evaluation.cost_usd, evaluation.tokens_in) == (None, 3200)

    def test_revisions_come_in_order_and_apps_apart(self, stores):
        for answer in "abc":
            stores.traces.admit(make_trace(answer=answer), (plan_free(),))
        stores.traces.admit(make_trace(app="another"), (plan_free(),))
        found = read_history(stores.engine, "t-1").revisions
        assert [(one.key.app, one.revision) for one in found] == [
            ("another", 1),
            ("shop", 1),
            ("shop", 2),
            ("shop", 3),
        ]
        states = [one.evaluations[0].state for one in found]
        assert states == [S.SCORED, S.SUPERSEDED, S.SUPERSEDED, S.SCORED]
        assert len(read_history(stores.engine, "t-1", app="shop").revisions) == 3

    def test_without_texts_the_rest_is_told(self, own_engine):
        stores = PostgresStores(FakeClock(), own_engine)
        stores.traces.admit(make_trace(), (plan_free(),))
        drop_expired(own_engine, today=NOON.date() + timedelta(days=2), retention={"trace_text": 1})
        (revision,) = read_history(own_engine, "t-1").revisions
        assert revision.trace is None
        assert revision.evaluations[0].outcomes != ()

    def test_what_is_not_known_is_empty(self, stores):
        history = read_history(stores.engine, "t-1")
        assert (history.revisions, history.parked) == ((), ())

    def test_a_database_that_speaks_another_zone_changes_nothing(self, own_engine, database_url):
        with own_engine.connect() as connection:
            name = connection.execute(text("SELECT current_database()")).scalar_one()
            connection.execute(text(f"ALTER DATABASE {name} SET timezone = 'Asia/Tokyo'"))
            connection.commit()
        engine = build_engine(database_url, application_name="ragsonde test")
        stores = PostgresStores(FakeClock(), engine)
        late = make_trace(occurred_at=NOON.replace(hour=23))
        claimed = stores.traces.claim(stores.traces.admit(late, (plan_paid(),)).pending[0])
        assert (claimed.trace, claimed.trace.key) == (late, late.key)
        engine.dispose()


class TestSummaries:
    def test_means_counts_and_causes_by_app_judge_and_scorer(self, stores):
        for number, raw in enumerate((0.2, 0.4, 0.9)):
            stores.traces.admit(make_trace(f"t-{number}"), (plan_free(raw=raw),))
            stores.clock.advance(1)
        stores.traces.admit(make_trace("x", app="other"), (plan_free(raw=1.0),))
        other, other_unscored, precision, statements = summarise_scores(stores.engine, since=NOON)
        assert (other.app, other.n, other.mean_raw, other_unscored.n) == ("other", 1, 1.0, 0)
        assert (precision.app, precision.judge, precision.scorer) == ("shop", FREE, "context_precision")
        assert (precision.n, precision.unscored) == (3, {})
        assert precision.mean_raw == pytest.approx(0.5)
        assert precision.mean_value == pytest.approx(5.0)
        assert precision.last_at == NOON + timedelta(seconds=2)
        assert (statements.n, statements.mean_raw, statements.mean_value) == (0, None, None)
        assert statements.unscored == {Cause.NOT_ASSESSED: 3}

    def test_environments_and_bases_are_never_averaged(self, stores):
        for number, (environment, raw, version) in enumerate(
            [
                ("live", 0.2, "1:answer"),
                ("live", 0.4, "1:answer"),
                ("live", 1.0, "1:query"),
                ("test", 0.9, "1:answer"),
            ]
        ):
            planned = plan_free(raw=raw)
            outcomes = tuple(
                one.model_copy(update={"version": version}) if one.scorer == "context_precision" else one
                for one in planned.result.outcomes
            )
            result = planned.result.model_copy(update={"outcomes": outcomes})
            trace = make_trace(f"t-{number}", environment=environment)
            stores.traces.admit(trace, (planned.model_copy(update={"result": result}),))
        found = [
            (one.environment, one.version, one.n, round(one.mean_raw, 6))
            for one in summarise_scores(stores.engine, since=NOON)
            if one.scorer == "context_precision"
        ]
        assert found == [
            ("live", "1:answer", 2, 0.3), ("live", "1:query", 1, 1.0), ("test", "1:answer", 1, 0.9),
        ]  # fmt: skip

    def test_superseded_and_older_scores_do_not_count(self, stores):
        stores.traces.admit(make_trace("old"), (plan_free(raw=0.1),))
        stores.clock.advance(10)
        stores.traces.admit(make_trace(answer="a"), (plan_free(raw=0.1),))
        stores.traces.admit(make_trace(answer="b"), (plan_free(raw=0.9),))
        summary = summarise_scores(stores.engine, since=NOON + timedelta(seconds=1), app="shop")[0]
        assert (summary.n, summary.mean_raw) == (1, 0.9)
        assert summarise_scores(stores.engine, since=NOON, app="nobody") == ()


class TestLedger:
    def test_for_each_judge_the_states_add_up_to_the_revisions(self, stores):
        for number in range(6):
            trace = make_trace(f"t-{number}")
            admission = stores.traces.admit(trace, (plan_free(), plan_paid()))
            if number == 0:
                stores.traces.admit(make_trace("t-0", answer="b"), (plan_free(), plan_paid(S.SAMPLED_OUT)))
            elif number < 4:
                claimed = stores.traces.claim(admission.pending[0])
                if number < 3:
                    stores.traces.finish(claimed, make_result(S.SCORED if number == 1 else S.FAILED))
        counts = count_states(stores.engine, since=NOON)
        assert counts == {
            (FREE, S.SCORED): 6,
            (FREE, S.SUPERSEDED): 1,
            (PAID, S.SCORED): 1,
            (PAID, S.FAILED): 1,
            (PAID, S.RUNNING): 1,
            (PAID, S.WAITING): 2,
            (PAID, S.SAMPLED_OUT): 1,
            (PAID, S.SUPERSEDED): 1,
        }
        for judge in (FREE, PAID):
            total = sum(count for (name, _), count in counts.items() if name == judge)
            assert total == count_revisions(stores.engine, since=NOON) == 7

    def test_only_what_was_born_since_then_and_of_the_app_counts(self, stores):
        stores.traces.admit(make_trace(), (plan_free(),))
        stores.clock.advance(10)
        stores.traces.admit(make_trace("t-2", app="other"), (plan_free(),))
        since = NOON + timedelta(seconds=1)
        assert sum(count_states(stores.engine, since=since).values()) == 1
        assert count_revisions(stores.engine, since=since) == 1
        assert sum(count_states(stores.engine, since=NOON, app="shop").values()) == 1
        assert count_revisions(stores.engine, since=NOON, app="shop") == 1


def read_current(stores, **which):
    query = select(CURRENT_SCORE.c.version, CURRENT_SCORE.c.raw).where(
        CURRENT_SCORE.c.scorer == "context_precision",
        *(CURRENT_SCORE.c[name] == value for name, value in which.items()),
    )
    with stores.engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(query))


def add_version(stores, version, *, raw, seconds):
    with stores.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO score SELECT trace_id, app, record_key, revision, day, judge, fingerprint,"
                " scorer, :version, created_at + make_interval(secs => :seconds), status, :raw, value,"
                " band, passed, cause, reason, details FROM score WHERE version = '1:answer'"
            ),
            {"version": version, "raw": raw, "seconds": seconds},
        )


def activate(stores, version):
    with stores.engine.begin() as connection:
        connection.execute(text("UPDATE scorer_version SET is_active = false"))
        connection.execute(
            text(
                "INSERT INTO scorer_version VALUES ('context_precision', :version, true, now())"
                " ON CONFLICT (scorer, version) DO UPDATE SET is_active = true"
            ),
            {"version": version},
        )


class TestCurrentScore:
    def test_only_the_newest_revision_counts(self, stores):
        for raw, answer in ((0.1, "a"), (0.2, "b")):
            stores.traces.admit(make_trace(answer=answer), (plan_free(raw=raw),))
        assert read_current(stores) == [("1:answer", 0.2)]

    def test_without_an_active_version_the_newest_counts_once(self, stores):
        stores.traces.admit(make_trace(), (plan_free(raw=0.1),))
        add_version(stores, "2", raw=0.7, seconds=5)
        add_version(stores, "0", raw=0.8, seconds=3)
        assert read_current(stores) == [("2", 0.7)]

    def test_the_active_version_counts_though_it_is_older(self, stores):
        stores.traces.admit(make_trace(), (plan_free(raw=0.1),))
        add_version(stores, "2", raw=0.7, seconds=5)
        activate(stores, "1:answer")
        assert read_current(stores) == [("1:answer", 0.1)]
        activate(stores, "2")
        assert read_current(stores) == [("2", 0.7)]
        activate(stores, "3")
        assert read_current(stores) == []

    def test_of_two_fingerprints_of_a_judge_the_newer_one_counts(self, stores):
        planned = PlannedEvaluation(
            judge=FREE, fingerprint="f" * 16, state=S.SCORED, sample_rate=1, result=make_result(raw=0.3)
        )
        stores.traces.admit(make_trace(), (plan_free(raw=0.1), planned))
        assert len(read_current(stores)) == 1

    def test_judges_are_not_mixed(self, stores):
        planned = PlannedEvaluation(
            judge=PAID, fingerprint="f" * 16, state=S.SCORED, sample_rate=1, result=make_result(raw=0.3)
        )
        stores.traces.admit(make_trace(), (plan_free(raw=0.1), planned))
        assert len(read_current(stores)) == 2
        assert read_current(stores, judge=PAID) == [("1:answer", 0.3)]

    def test_at_most_one_version_is_active(self, stores):
        statement = text("INSERT INTO scorer_version VALUES ('a', :version, true, now())")
        with stores.engine.connect() as connection:
            connection.execute(statement, {"version": "1"})
            with pytest.raises(IntegrityError, match="uq_scorer_version_active"):
                connection.execute(statement, {"version": "2"})


class TestRepliesOfJudges:
    def test_characters_that_postgres_refuses_are_replaced_in_the_evidence(self, stores):
        call = make_calls()[0].model_copy(update={"reply": "a\x00b \ud83d", "answered_model": "m\x00"})
        assessment = make_assessment(calls=(call,)).model_copy(
            update={"missing": ("x\x00y", "\\u0000"), "notes": {"k\x00": float("nan"), "s": "\udc00"}}
        )
        claimed = stores.traces.claim(stores.traces.admit(make_trace(), (plan_paid(),)).pending[0])
        assert stores.traces.finish(claimed, make_result(assessment=assessment)) is S.SCORED
        stored = stores.look(claimed.key).assessment
        assert stored.calls[0].reply == "a\ufffdb \ufffd"
        assert stored.missing == ("x\ufffdy", "\\u0000")
        assert stored.notes == {"k\ufffd": "NaN", "s": "\ufffd"}


def test_sweepers_at_once_take_each_evaluation_once(stores):
    for number in range(40):
        stores.traces.admit(make_trace(f"t-{number}"), (plan_paid(),))
    stores.clock.advance(1000)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: stores.take_due(limit=10), range(8)))
    keys = [key for batch in taken for key in batch]
    assert len(keys) == len(set(keys)) == 40
