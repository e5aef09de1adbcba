"""One more scorer for an evaluation that has ended: what is asked, and what stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.evaluations import make_trace
from fakes.judge import FakeJudge
from ragsonde.pipeline.adding import (
    add_verdicts,
    choose_assignment,
    find_held,
    judge_added,
    settle_kept,
)
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.judging import fail_evaluation
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Fault
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey, EvaluationState, KeptResult

S = EvaluationState
TRACE = make_trace()
ALL = frozenset(Aspect) - {Aspect.STATEMENTS, Aspect.RUBRICS}
SCORER = "faithfulness"
FAULT = Fault(cause=Cause.VERDICT_MISMATCH, message="2 of 3")
WHOLE = FakeJudge().assess(TRACE, ALL)
HELD = FakeJudge().assess(TRACE, frozenset({Aspect.RELEVANT}))
SCORERS = build_scorers({"context_precision": None, SCORER: None})


def claim(assessment=HELD, *, was=S.SCORED, scorer=SCORER):
    key = EvaluationKey(trace=TRACE.key, revision=1, judge="fake", fingerprint="f" * 16)
    return ClaimedEvaluation(
        key=key,
        trace=TRACE,
        unfinished_starts=1,
        attempts=0,
        waiting_since=TRACE.occurred_at,
        kept=KeptResult(was=was, scorer=scorer, assessment=assessment),
    )


def run(claimed, judge, *, answered=None):
    assignment = choose_assignment(claimed, {"fake": Assignment(judge=judge, scorers=SCORERS)})
    return judge_added(claimed, assignment=assignment, deadline=0.0, given=answered)


def pick(assessment, aspect):
    """What an assessment says of one aspect."""
    if aspect not in PER_CONTEXT:
        return getattr(assessment, aspect.value)
    said = {number: getattr(one, aspect.value) for number, one in (assessment.contexts or {}).items()}
    return {number: verdict for number, verdict in said.items() if verdict is not None}


@given(st.sets(st.sampled_from(sorted(ALL))), st.sets(st.sampled_from(sorted(ALL))), st.booleans())
def test_what_is_held_is_never_replaced_and_what_was_asked_is_there_unless_it_is_faulty(first, then, is_bad):
    held = FakeJudge().assess(TRACE, frozenset(first))
    gaps = frozenset(then) - first
    found = FakeJudge(troubles=[FAULT] if is_bad else ()).assess(TRACE, gaps)
    found = found.model_copy(update={"insufficient": True if Aspect.ESSENTIAL in gaps else None})
    united = add_verdicts(held, found, aspects=gaps)
    for aspect in first:
        assert pick(united, aspect) == pick(held, aspect)
    if Aspect.ESSENTIAL in first:
        assert united.insufficient == held.insufficient
    for aspect in gaps:
        assert pick(united, aspect) == pick(held if is_bad else found, aspect)
    if Aspect.ESSENTIAL in gaps and not is_bad:
        assert united.insufficient
    assert united.faults == held.faults


def test_only_what_was_never_asked_is_asked():
    judge = FakeJudge()
    result = run(claim(), judge)
    assert [aspects for _, aspects, _ in judge.asked] == [frozenset({Aspect.CLAIMS})]
    assert [(one.scorer, one.status) for one in result.outcomes] == [(SCORER, "scored")]
    assert result.assessment.contexts == HELD.contexts
    assert result.assessment.claims == WHOLE.claims


@pytest.mark.parametrize("held", [WHOLE, WHOLE.model_copy(update={"truncated": True})])
def test_where_the_verdicts_hold_it_nobody_is_asked(held):
    judge = FakeJudge()
    claimed = claim(held)
    assignment = choose_assignment(claimed, {"fake": Assignment(judge=judge, scorers=SCORERS)})
    assert find_held(claimed, assignment) == held
    result = run(claimed, judge)
    assert (judge.asked, result.state, result.assessment) == ([], S.SCORED, held)


def test_verdicts_of_the_same_content_fill_the_gap_alone():
    judge = FakeJudge()
    other = WHOLE.model_copy(update={"contexts": {}})
    result = run(claim(), judge, answered=other)
    assert (judge.asked, result.assessment.contexts, result.assessment.claims) == (
        [],
        HELD.contexts,
        WHOLE.claims,
    )


@pytest.mark.parametrize("mark", [{"answered_fingerprint": "0" * 16}, {"truncated": True}])
def test_another_stream_and_a_cut_text_are_put_beside_nothing(mark):
    judge = FakeJudge(troubles=[WHOLE.model_copy(update=mark)])
    found = run(claim(), judge)
    ((outcome,), assessment) = found.outcomes, found.assessment
    assert (outcome.cause, assessment, len(judge.asked)) == (Cause.NOT_ASSESSED, None, 1)
    held = run(claim(HELD.model_copy(update=mark)), judge)
    assert (held.outcomes[0].cause, held.assessment, len(judge.asked)) == (Cause.NOT_ASSESSED, None, 1)
    nothing_held = run(claim(None), FakeJudge(troubles=[WHOLE.model_copy(update=mark)]))
    assert nothing_held.outcomes[0].status == "scored"


@pytest.mark.parametrize(
    ("was", "state"), [(S.SCORED, S.SCORED), (S.NOT_EVALUABLE, S.FAILED), (S.FAILED, S.FAILED)]
)
def test_however_a_run_ends_it_gives_the_scorers_outcome_and_what_was_scored_stays_so(was, state):
    whole = fail_evaluation(TRACE, scorers=SCORERS, cause=Cause.INTERNAL_ERROR, message="why")
    added = settle_kept(claim(was=was), whole)
    assert ([one.scorer for one in added.outcomes], added.state) == ([SCORER], state)
    assert settle_kept(claim(was=was, scorer=None), whole) == whole


def test_settings_without_the_scorer_have_no_assignment_for_it():
    assignment = Assignment(judge=FakeJudge(), scorers=build_scorers({"context_precision": None}))
    assert choose_assignment(claim(), {"fake": assignment}) is None
    assert choose_assignment(claim(scorer=None), {"fake": assignment}) == assignment
