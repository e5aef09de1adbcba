"""Backfills of what had ended: failed evaluations, and those that lack a scorer, on a real Postgres."""

# ruff: noqa: S608 - made of constants of this file

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from fakes.evaluations import PAID, make_trace, plan_free
from ragsonde.api.rescoring import rescore
from ragsonde.pipeline.judging import fail_evaluation
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.assessments import EvaluationFilter, read_evaluations
from ragsonde.storage.backfills import change_state
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.rescored import RescoredEvaluation, store_rescored
from ragsonde_schemas.assessment import Aspect, Assessment, Certainty, ClaimVerdict, Fault
from ragsonde_schemas.backfill import BackfillState
from ragsonde_schemas.errors import Cause, JudgeUnavailableError
from ragsonde_schemas.evaluation import EvaluationState
from services.backfill_ground import CALL, BackfillGround

pytestmark = pytest.mark.integration

S = EvaluationState
OLD = {"context_precision": None, "essential_context": None}
NEW = {**OLD, "faithfulness": None}
SCORER = "faithfulness"
AWAY = JudgeUnavailableError(PAID, "503")
FAULT = Fault(cause=Cause.VERDICT_MISMATCH, message="2 of 3")
HELD_OPEN = timedelta(days=3)


def name(*numbers):
    return [f"t-{number:02}" for number in numbers]


def judged(engine, *troubles, traces=3, scorers=OLD):
    """Live traces, judged with the old scorers; a judge that is away is away until they fail."""
    ground = BackfillGround(engine, scorers=scorers)
    ground.judge._troubles = list(troubles)
    ground.admit(*name(*range(traces)), state=S.WAITING)
    ground.clock.advance(200)
    ground.judge_live()
    return ground


def failed(engine):
    """Two that are scored, one that failed by a reply, one by an outage."""
    ground = judged(engine, None, FAULT, AWAY, None, traces=4)
    ground.judge._troubles = [AWAY] * 2
    ground.clock.advance(25 * 3600)
    ground.judge_live()
    assert ground.count_states() == {"scored": 2, "failed": 2}
    return ground


def dump(ground):
    """All rows of the paid judge but what names runs, each as JSON."""
    rows = ground.query(
        f"SELECT to_jsonb(e) - '{{starts,backfill_id,reopened_at,attempts}}'::text[] FROM evaluation e "
        f"WHERE judge = '{PAID}' UNION ALL SELECT to_jsonb(a) FROM assessment a WHERE judge = '{PAID}' "
        f"UNION ALL SELECT to_jsonb(s) FROM score s WHERE judge = '{PAID}'"
    )
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def dump_scores(ground, *, without):
    rows = ground.query(
        f"SELECT to_jsonb(s) FROM score s WHERE judge = '{PAID}' AND scorer <> '{without}' ORDER BY 1"
    )
    return [json.dumps(row, sort_keys=True) for row in rows]


def read_scores(ground, scorer=SCORER):
    return ground.query(
        "SELECT trace_id, status, raw, cause FROM score "
        f"WHERE scorer = '{scorer}' AND judge = '{PAID}' ORDER BY 1"
    )


def read_verdicts(ground):
    rows = ground.query(f"SELECT trace_id, verdicts FROM assessment WHERE judge = '{PAID}'")
    return {trace_id: Assessment.model_validate(verdicts) for trace_id, verdicts in rows}


def count_all(ground):
    """Evaluations of the paid judge over all states, after the ledger was seen to hold."""
    now = ground.clock.now()
    ledger = LedgerReader(ground.engine, kept_days=90).read(now=now, since=now - HELD_OPEN)
    assert [check for check in ledger.checks if not check.holds] == []
    return sum(ledger.states[PAID].values())


def rescore_all(ground):
    """What `ragsonde rescore` does with the scorers as they are configured."""
    days = [ground.clock.now().date() - timedelta(days=back) for back in range(3)]
    chosen = EvaluationFilter(judge=PAID)
    for batch in read_evaluations(ground.engine, chosen, days=days, batch_size=10):
        outcomes = [(one, rescore(one, scorers=ground.stages.scorers)) for one in batch]
        store_rescored(
            ground.engine,
            [RescoredEvaluation(one.key, one.assessment, one.judged_at, out) for one, out in outcomes],
        )


def test_what_failed_with_a_cause_is_judged_once_more_and_counted_once(engine):
    ground = failed(engine)
    counts = [count_all(ground)]
    number = ground.start(only_failed=True, cause=Cause.JUDGE_UNAVAILABLE)
    ground.step()
    counts.append(count_all(ground))
    assert ground.count_states() == {"scored": 2, "failed": 1, "waiting": 1}
    (key,) = ground.broker.published
    ground.clock.advance(1)
    claimed = ground.stages.traces.claim(key)
    counts.append(count_all(ground))
    ground.stages.traces.postpone(claimed, until=ground.clock.now(), cause=Cause.JUDGE_UNAVAILABLE)
    ended = ground.run_to_end(number)
    counts.append(count_all(ground))

    assert counts == [4, 4, 4, 4]
    assert (ended.foreseen, ended.planned, ended.tally.scored) == (1, 1, 1)
    assert ground.count_states() == {"scored": 3, "failed": 1}
    assert ground.query(f"SELECT count(*) FROM score WHERE cause = '{Cause.JUDGE_UNAVAILABLE}'") == [(0,)]
    assert ground.query(f"SELECT DISTINCT sample_rate FROM evaluation WHERE judge = '{PAID}'") == [(0.05,)]
    rest = ground.run_to_end(ground.start(only_failed=True))
    assert (rest.planned, rest.tally.scored, ground.count_states()) == (1, 1, {"scored": 4})


def test_what_fails_again_has_the_new_reason_alone(engine):
    ground = failed(engine)
    ground.judge._troubles = [FAULT]
    ended = ground.run_to_end(ground.start(only_failed=True, cause=Cause.JUDGE_UNAVAILABLE))
    assert (ended.tally.failed, count_all(ground)) == (1, 4)
    causes = ground.query(f"SELECT DISTINCT cause FROM score WHERE judge = '{PAID}' AND status = 'error'")
    assert causes == [(Cause.VERDICT_MISMATCH.value,)]


@pytest.mark.parametrize("fields", [{"only_failed": True}, {"scorer": SCORER}])
@pytest.mark.parametrize("ends_by", ["cancel", "its means"])
def test_cancelled_or_spent_every_row_is_as_it_was(engine, fields, ends_by):
    ground = failed(engine)
    ground.configure(NEW)
    before, asked = dump(ground), len(ground.judge.asked)
    if ends_by == "cancel":
        number = ground.start(**fields, rate_per_second=0.01)
        ground.step()
        assert ground.count_states()["waiting"] == 2
        change_state(engine, number, BackfillState.CANCELLED, now=ground.clock.now())
    else:
        number = ground.start(**fields, most_calls=1)  # less than the worst case of one
        ground.step()
        ground.work()
        assert (ground.count_states()["shed"], count_all(ground)) == (2, 4)
    ground.step()
    ground.step()

    ended = ground.read(number)
    assert ended.state is (BackfillState.CANCELLED if ends_by == "cancel" else BackfillState.SPENT)
    assert (ended.tally.left, ended.tally.outstanding, ended.tally.evaluated) == (2, 0, 0)
    assert (dump(ground), count_all(ground)) == (before, 4)
    assert len(ground.judge.asked) == asked


def test_a_scorer_that_came_later_is_asked_for_alone_and_nothing_else_changes(engine):
    ground = judged(engine)
    ground.configure(NEW)
    rescore_all(ground)
    assert read_scores(ground) == [(one, "error", None, "not_assessed") for one in name(0, 1, 2)]
    others, old, asked = dump_scores(ground, without=SCORER), read_verdicts(ground), len(ground.judge.asked)

    number = ground.start(scorer=SCORER)
    counts = [count_all(ground)]
    ground.step()
    counts.append(count_all(ground))
    ended = ground.run_to_end(number)
    counts.append(count_all(ground))

    assert counts == [3, 3, 3]
    assert (ended.foreseen, ended.planned, ended.tally.scored, ended.tally.calls) == (3, 3, 3, 3)
    assert [aspects for _, aspects, _ in ground.judge.asked[asked:]] == [frozenset({Aspect.CLAIMS})] * 3
    assert read_scores(ground) == [(one, "scored", 1.0, None) for one in name(0, 1, 2)]
    assert dump_scores(ground, without=SCORER) == others
    for trace_id, verdicts in read_verdicts(ground).items():
        assert verdicts.claims is not None
        assert verdicts.notes["added"][0]["aspects"] == ["claims"]
        assert verdicts.model_copy(update={"claims": None, "notes": {}}) == old[trace_id]
    assert ground.foresee(ground.request(scorer=SCORER)).is_nothing
    assert ground.query(f"SELECT DISTINCT calls FROM evaluation WHERE judge = '{PAID}'") == [(2,)]


def test_a_model_that_has_changed_scores_in_its_own_epoch_and_the_old_verdicts_stay_in_theirs(engine):
    ground = judged(engine, traces=1)
    ground.configure(NEW)
    claims = ClaimVerdict(text="Shipping is free.", supported=Certainty.NO)
    answer = Assessment(claims=(claims,), judge_epoch=2, answered_model="mock-2", calls=(CALL,))
    ground.judge._troubles = [answer]
    others = dump_scores(ground, without=SCORER)
    ground.run_to_end(ground.start(scorer=SCORER))

    assert read_scores(ground) == [("t-00", "scored", 0.0, None)]
    assert ground.query(f"SELECT judge_epoch FROM score WHERE scorer = '{SCORER}'") == [(2,)]
    verdicts = read_verdicts(ground)["t-00"]
    assert (verdicts.judge_epoch, verdicts.answered_model, verdicts.claims) == (1, None, (claims,))
    assert verdicts.notes["added"] == [{"aspects": ["claims"], "answered_model": "mock-2", "judge_epoch": 2}]
    assert dump_scores(ground, without=SCORER) == others


@pytest.mark.parametrize("by_rescore", [True, False])
def test_a_scorer_whose_verdicts_are_stored_costs_no_call(engine, by_rescore):
    ground = judged(engine)
    ground.configure({**OLD, "context_position": None})
    others, asked = dump_scores(ground, without="context_position"), len(ground.judge.asked)
    if by_rescore:
        rescore_all(ground)
        assert ground.foresee(ground.request(scorer="context_position")).is_nothing
    else:
        ended = ground.run_to_end(ground.start(scorer="context_position", most_calls=1))
        assert (ended.tally.scored, ended.tally.calls) == (3, 0)
    assert [status for _, status, *_ in read_scores(ground, "context_position")] == ["scored"] * 3
    assert dump_scores(ground, without="context_position") == others
    assert len(ground.judge.asked) == asked
    assert count_all(ground) == 3


def test_a_killed_run_is_taken_over_and_its_first_runner_writes_nothing(engine):
    ground = judged(engine)
    ground.configure(NEW)
    number = ground.start(scorer=SCORER)
    ground.step()
    dead = ground.stages.traces.claim(ground.broker.published.pop(0))
    ground.work()
    assert (count_all(ground), ground.count_states()) == (3, {"scored": 2, "running": 1})
    ground.clock.advance(200)
    ended = ground.run_to_end(number)

    assert (ended.planned, ended.tally.scored, count_all(ground)) == (3, 3, 3)
    assert [status for _, status, *_ in read_scores(ground)] == ["scored"] * 3
    late = fail_evaluation(dead.trace, scorers=build_scorers(NEW), cause=Cause.INTERNAL_ERROR, message="late")
    assert ground.stages.traces.finish(dead, late) is None
    assert [status for _, status, *_ in read_scores(ground)] == ["scored"] * 3


@pytest.mark.parametrize("trouble", ["fault", "fallback", "texts"])
def test_whatever_comes_of_the_scorer_the_others_stay_and_another_backfill_mends_it(engine, trouble):
    ground = judged(engine, traces=1)
    ground.configure(NEW)
    others, verdicts = dump_scores(ground, without=SCORER), read_verdicts(ground)
    answer = {"fault": FAULT, "fallback": Assessment(claims=(), answered_fingerprint="0" * 16, calls=(CALL,))}
    ground.judge._troubles = [answer[trouble]] if trouble in answer else []
    number = ground.start(scorer=SCORER)
    ground.step()
    if trouble == "texts":
        with engine.begin() as connection:
            kept = connection.exec_driver_sql("DELETE FROM trace_text RETURNING *").fetchall()
        assert kept
    ended = ground.run_to_end(number)

    assert (ended.tally.scored, ground.count_states(), count_all(ground)) == (1, {"scored": 1}, 1)
    ((_, status, raw, cause),) = read_scores(ground)
    expected = {
        "fault": Cause.VERDICT_MISMATCH,
        "fallback": Cause.NOT_ASSESSED,
        "texts": Cause.CONTENT_EXPIRED,
    }
    assert (status, raw, cause) == ("error", None, expected[trouble].value)
    assert dump_scores(ground, without=SCORER) == others
    kept = {one: v.model_copy(update={"notes": {}}) for one, v in read_verdicts(ground).items()}
    assert kept == verdicts
    if trouble != "texts":
        assert ground.run_to_end(ground.start(scorer=SCORER)).tally.scored == 1
        assert read_scores(ground) == [("t-00", "scored", 1.0, None)]
        assert dump_scores(ground, without=SCORER) == others


def test_a_newer_revision_supersedes_it_and_settings_without_the_scorer_pause_it(engine):
    ground = judged(engine, traces=2)
    ground.configure(NEW)
    number = ground.start(scorer=SCORER, rate_per_second=0.001)
    ground.step()
    newer = make_trace("t-00", answer="Another one.", occurred_at=ground.clock.now())
    ground.stages.traces.admit(newer, (plan_free(),))
    ground.step()
    assert ground.read(number).tally.left == 1
    ground.configure(OLD)
    ground.step()
    paused = ground.read(number)
    assert paused.state is BackfillState.PAUSED
    assert f"judge {PAID} has no scorer {SCORER} in the running monitor's settings" in (paused.message or "")
    assert ground.count_states() == {"superseded": 1, "waiting": 1}
    count_all(ground)
