"""Backfills on a real Postgres, step by step: what is begun, published, counted, put back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.evaluations import PAID, make_trace, plan_free, plan_paid
from ragsonde.pipeline.evaluate_trace import evaluate
from ragsonde.storage.backfills import change_state
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde_schemas.backfill import BackfillState
from ragsonde_schemas.errors import BrokerLostError, Cause, JudgeUnavailableError
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Period
from services.backfill_ground import BackfillGround

pytestmark = pytest.mark.integration

S = EvaluationState


def name(*numbers):
    return [f"t-{number:02}" for number in numbers]


def test_what_lacks_the_judges_evaluation_gets_one_and_nothing_else(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2))
    ground.admit(*name(3), state=S.SAMPLED_OUT)
    ground.admit(*name(4), state=S.SHED)
    ground.admit(*name(5), state=S.FILTERED)
    ground.admit(*name(6), state=S.WAITING)
    ground.admit(*name(7), app="other")

    number = ground.start(app="shop")
    ended = ground.run_to_end(number)

    assert ended.state is BackfillState.DONE
    assert (ended.looked_at, ended.planned, ended.foreseen, ended.tally.scored) == (7, 4, 4, 4)
    assert sorted(trace_id for trace_id, *_ in ground.judge.asked) == name(1, 2, 3, 4)
    assert ground.count_states() == {"scored": 4, "filtered": 1, "waiting": 1}
    assert ground.query("SELECT count(*) FROM backfill_item") == [(0,)]


def test_it_goes_to_its_own_queue_at_its_rate_and_the_sweeper_leaves_it_alone(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(30)))
    ground.start(rate_per_second=2.0)

    published = [ground.step() for _ in range(5)]

    assert published == [2, 2, 2, 2, 2]
    assert set(ground.broker.queues) == {"ragsonde.backfill"}
    ground.clock.advance(3600)
    assert ground.sweep() == []


def test_nothing_is_published_while_live_messages_wait(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2, 3))
    ground.start()
    ground.broker.depths["ragsonde.traces"] = 11
    assert [ground.step() for _ in range(3)] == [0, 0, 0]
    ground.broker.depths["ragsonde.traces"] = 10
    assert ground.step() == 3


def test_the_ledger_adds_up_before_while_and_after(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2), state=S.SAMPLED_OUT)
    ground.admit(*name(3), state=S.WAITING)
    since = ground.clock.now() - timedelta(days=1)

    def sum_states():
        return sum(count for (judge, _), count in count_states(engine, since=since).items() if judge == PAID)

    number = ground.start()
    sums = [sum_states()]
    ground.step()
    sums.append(sum_states())
    ground.run_to_end(number)
    ground.judge.fingerprint = "a" * 16  # another prompt: every revision gets a second evaluation
    ground.run_to_end(ground.start())
    sums.append(sum_states())

    assert count_revisions(engine, since=since) == 3
    assert sums == [3, 3, 3]
    assert len(ground.query("SELECT FROM evaluation WHERE is_added")) == 3


def test_a_step_that_was_cut_off_is_done_again_and_nothing_twice(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(8)))
    number = ground.start()
    ground.broker.refuses_publishing = True
    with pytest.raises(BrokerLostError):
        ground.step()
    ground.broker.refuses_publishing = False

    assert ground.step() == 0, "they are with the queue until their time there is over"
    ground.clock.advance(150)
    ended = ground.run_to_end(number)

    assert ended.tally.scored == ended.planned == 8
    assert len(ground.judge.asked) == 8


def test_messages_that_come_twice_are_judged_once(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(5)))
    number = ground.start()
    ground.step()
    again = list(ground.broker.published)
    ground.work()
    for key in again:
        evaluate(key, ground.stages)

    assert ground.run_to_end(number).tally.scored == 5
    assert len(ground.judge.asked) == 5


def test_messages_that_the_broker_has_lost_are_published_again_and_judged_once(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(12)))
    number = ground.start(rate_per_second=4.0)
    ground.step()
    ground.work()
    ground.step()
    lost = list(ground.broker.published)
    ground.broker.published.clear()  # a purge, or a broker that came back without them
    for _ in range(150):
        ground.step()
        ground.work()
    ended = ground.run_to_end(number)
    for key in lost:  # and one that had them all the while
        evaluate(key, ground.stages)

    assert len(lost) == 4
    assert (ended.planned, ended.tally.scored, ended.tally.calls) == (12, 12, 12)
    assert sorted(trace_id for trace_id, *_ in ground.judge.asked) == name(*range(12))


def test_cancelled_leaves_everything_as_it_was_and_another_one_may_begin_it(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2), state=S.SAMPLED_OUT)
    with engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET sample_rate = 0.25 WHERE state = 'sampled_out'"))
    before = set(ground.query(OUTCOMES))
    ground.admit(*name(3, 4))
    number = ground.start(rate_per_second=1.0)
    ground.step()
    ground.work()
    change_state(engine, number, BackfillState.CANCELLED, now=ground.clock.now())
    ground.step()

    cancelled = ground.read(number)
    assert (cancelled.planned, cancelled.tally.scored, cancelled.tally.left) == (4, 1, 3)
    assert cancelled.tally.outstanding == 0
    assert ground.count_states()["waiting"] == ground.count_states()["running"] == 0
    assert ground.count_states()["sampled_out"] + ground.count_states()["shed"] == 3
    assert {row for row in ground.query(OUTCOMES) if row[1] == "sampled_out"} <= before

    ended = ground.run_to_end(ground.start())
    assert ended.tally.scored == 3
    assert ground.count_states() == {"scored": 4}


def test_what_runs_when_it_is_cancelled_ends_as_it_ends(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1))
    number = ground.start()
    ground.step()
    (key,) = ground.broker.published
    claimed = ground.stages.traces.claim(key)
    change_state(engine, number, BackfillState.CANCELLED, now=ground.clock.now())
    ground.step()
    assert ground.read(number).tally.running == 1

    ground.stages.traces.postpone(claimed, until=ground.clock.now(), cause=Cause.JUDGE_UNAVAILABLE)
    ground.step()
    assert ground.read(number).tally.left == 1
    assert ground.count_states() == {"shed": 1}


def test_paused_begins_nothing_and_goes_on_where_it_was(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(6)))
    number = ground.start(rate_per_second=2.0)
    ground.step()
    change_state(engine, number, BackfillState.PAUSED, now=ground.clock.now())
    assert [ground.step(seconds=60) for _ in range(3)] == [0, 0, 0]
    change_state(engine, number, BackfillState.RUNNING, now=ground.clock.now())
    assert ground.step() == 2, "what was missed meanwhile does not come at once"


def test_another_one_takes_as_many_of_what_the_first_has_left(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(40)))
    left = 40
    for most in (10, 3, 20):
        assert ground.foresee(ground.request(most_traces=most)).evaluations == left
        ended = ground.run_to_end(ground.start(most_traces=most))
        assert (ended.foreseen, ended.planned, ended.tally.scored) == (most, most, most)
        left -= most


def test_records_of_one_trace_share_its_draw_and_are_no_more_than_the_most(engine):
    ground = BackfillGround(engine)
    for number in range(4):
        ground.admit("t-1", record_key=f"r-{number}")
    assert ground.run_to_end(ground.start(most_traces=2)).planned == 2


OUTCOMES = "SELECT trace_id, state, cause, sample_rate, finished_at FROM evaluation WHERE judge = 'gpt'"


def test_its_own_calls_are_never_exceeded_and_the_rest_is_put_back(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(6)), state=S.SAMPLED_OUT)
    with engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET sample_rate = 0.25"))
    before = set(ground.query(OUTCOMES))
    ended = ground.run_to_end(ground.start(most_calls=5))

    assert ended.state is BackfillState.SPENT
    assert 0 < ended.tally.calls <= 5
    assert ground.count_states()["waiting"] == 0
    assert ended.tally.scored + ended.tally.left == 6
    assert ended.tally.left > 0
    left = {row for row in ground.query(OUTCOMES) if row[1] != "scored"}
    assert left <= before, "what it could not afford is what it was"
    assert len(left) == ended.tally.left


def test_live_traffic_keeps_half_of_a_budget(engine):
    ground = BackfillGround(engine, limits=(Limit(period=Period.HOUR, calls=20),))
    ground.admit(*name(*range(20)))
    number = ground.start()
    for _ in range(30):
        ground.step()
        ground.work()

    assert ground.read(number).tally.calls <= 10
    assert ground.read(number).state is BackfillState.RUNNING
    spent = ground.read(number).tally.calls
    ground.clock.advance(3600)
    for _ in range(10):
        ground.step()
        ground.work()
    assert ground.read(number).tally.calls > spent


def test_a_judge_that_is_away_is_waited_for_from_the_first_turn_on(engine):
    outage = JudgeUnavailableError("gpt", "503")
    ground = BackfillGround(engine, troubles=[outage])
    ground.admit(*name(1), state=S.SAMPLED_OUT)
    ground.clock.advance(30 * 3600)
    number = ground.start()
    ground.step()
    ground.work()
    assert ground.count_states() == {"waiting": 1}
    for _ in range(60):
        ground.step(seconds=60)
        ground.work()
    assert ground.read(number).tally.scored == 1


def test_a_judge_that_is_configured_otherwise_pauses_it_and_fails_nothing(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2))
    number = ground.start(rate_per_second=1.0)
    ground.step()
    ground.judge.fingerprint = "b" * 16
    ground.work()
    ground.step()

    paused = ground.read(number)
    assert paused.state is BackfillState.PAUSED
    assert "configured otherwise" in (paused.message or "")
    assert ground.count_states() == {"waiting": 2}


def test_a_newer_revision_supersedes_what_waits_and_a_duplicate_does_not_begin_it(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2))
    number = ground.start(rate_per_second=0.001)
    ground.step()
    born = ground.stages.traces.admit(
        make_trace("t-01", answer="The answer of t-01.", occurred_at=ground.clock.now()), (plan_free(),)
    )
    assert (born.kind, born.pending) == ("duplicate", ())
    newer = make_trace("t-02", answer="Another one.", occurred_at=ground.clock.now())
    ground.stages.traces.admit(newer, (plan_free(), plan_paid(S.SAMPLED_OUT)))
    ground.step()
    assert ground.read(number).tally.left == 1
    assert ground.count_states() == {"waiting": 1, "superseded": 1, "sampled_out": 1}


def test_at_most_so_many_come_from_all_of_the_range(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(60)))
    number = ground.start(most_traces=10)
    ended = ground.run_to_end(number)
    chosen = sorted(trace_id for trace_id, *_ in ground.judge.asked)
    assert 1 <= ended.planned <= 10
    assert chosen != name(*range(ended.planned))


def test_texts_that_are_gone_are_told_and_not_begun(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(1, 2))
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM trace_text WHERE trace_id = 't-01'")
    foreseen = ground.foresee(ground.request())
    assert (foreseen.evaluations, foreseen.without_texts) == (1, 1)


def test_progress_is_shown_while_it_is_under_way(engine):
    ground = BackfillGround(engine)
    ground.admit(*name(*range(4)))
    number = ground.start(rate_per_second=2.0)
    ground.step()
    ground.work()
    ground.chores.show_progress()
    page = ground.series.render().body.decode()
    assert f'ragsonde_backfill_done_ratio{{backfill="{number}",judge="gpt@fedcba"}} 0.5' in page
    assert (
        f'ragsonde_backfill_evaluations{{backfill="{number}",judge="gpt@fedcba",state="scored"}} 2.0' in page
    )
    ground.run_to_end(number)
    ground.chores.show_progress()
    assert "backfill_done_ratio{" not in ground.series.render().body.decode()
