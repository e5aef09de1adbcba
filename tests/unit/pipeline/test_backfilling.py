from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import NOON
from fakes.judge import FakeJudge
from ragsonde.extraction.mapping_options import MatchOptions
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.backfilling import LONGEST_BURST, choose_candidates, list_taken, plan_turn
from ragsonde.sampling import draw
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.backfill import BackfillRequest, Candidate
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.trace import EvaluationWish, TraceKey

DAY = date(2026, 6, 15)
SCORER = "context_precision"


def assign(**match):
    return Assignment(
        judge=FakeJudge("gpt", is_free=False), scorers=build_scorers(None), match=MatchOptions(**match)
    )


def request(**fields):
    return BackfillRequest(
        **{"judge": "gpt", "fingerprint": "f", "since": DAY, "until": DAY, "rate_per_second": 1.0, **fields}
    )


def candidate(trace_id="t-1", *, app="shop", **fields):
    return Candidate(
        **{
            "key": TraceKey(app=app, trace_id=trace_id, record_key="", day=DAY),
            "revision": 1,
            "environment": "production",
            "tags": ("beta",),
            "format": "native",
            "wish": EvaluationWish(),
            "sampling_probability": 1.0,
            "state": None,
            "has_texts": True,
            "counts": True,
            **fields,
        }
    )


@pytest.mark.parametrize("state", [None, *EvaluationState])
def test_only_what_is_missing_or_was_left_out_is_taken(state):
    chosen, _ = choose_candidates([candidate(state=state)], request(), assignment=assign())
    assert bool(chosen) == (state in {None, EvaluationState.SAMPLED_OUT, EvaluationState.SHED})


AWAY, FAULTY = Cause.JUDGE_UNAVAILABLE, Cause.VERDICT_MISMATCH


@pytest.mark.parametrize("state", [None, *EvaluationState])
@pytest.mark.parametrize(
    ("asked", "fields", "expected"),
    [
        ({"only_failed": True}, {"cause": FAULTY}, {EvaluationState.FAILED}),
        ({"only_failed": True, "cause": AWAY}, {"cause": AWAY}, {EvaluationState.FAILED}),
        ({"only_failed": True, "cause": AWAY}, {"cause": FAULTY}, set()),
        ({"scorer": SCORER}, {}, {EvaluationState.SCORED, EvaluationState.NOT_EVALUABLE}),
        ({"scorer": SCORER}, {"has_score": True}, set()),
        ({"scorer": SCORER}, {"wish": EvaluationWish(scorers=("essential_context",))}, set()),
        ({"scorer": "of_nobody"}, {}, set()),
    ],
)
def test_what_is_run_once_more_is_of_one_kind(state, asked, fields, expected):
    chosen, _ = choose_candidates([candidate(state=state, **fields)], request(**asked), assignment=assign())
    assert bool(chosen) == (state in expected)
    assert expected <= list_taken(request(**asked))


@pytest.mark.parametrize(
    ("fields", "asked", "match"),
    [
        ({"counts": False}, {}, {}),
        ({}, {"app": "other"}, {}),
        ({}, {"app": ""}, {}),
        ({}, {"environment": "staging"}, {}),
        ({}, {}, {"app": ["other"]}),
        ({}, {}, {"tag": ["alpha"]}),
        ({"wish": EvaluationWish(scorers=())}, {}, {}),
        ({"wish": EvaluationWish(sample_rate=0.0)}, {}, {}),
    ],
)
def test_what_is_not_meant_is_left(fields, asked, match):
    chosen, without_texts = choose_candidates(
        [candidate(**fields)], request(**asked), assignment=assign(**match)
    )
    assert (chosen, without_texts) == ((), 0)


def test_what_is_meant_by_app_environment_and_match_is_taken():
    asked = request(app="shop", environment="production")
    chosen, _ = choose_candidates([candidate()], asked, assignment=assign(app=["shop"], tag=["beta"]))
    assert [one.key.trace_id for one, _ in chosen] == ["t-1"]


def test_without_texts_it_is_counted_and_not_taken():
    choice = choose_candidates([candidate(has_texts=False)], request(), assignment=assign())
    assert choice == ((), 1)


def test_a_share_takes_those_that_live_sampling_would_and_notes_its_rate():
    many = [candidate(f"t-{number}", sampling_probability=0.5) for number in range(400)]
    chosen, _ = choose_candidates(many, request(sample=0.25), assignment=assign())
    expected = [one.key.trace_id for one in many if draw(app="shop", trace_id=one.key.trace_id) < 0.25]
    assert [one.key.trace_id for one, _ in chosen] == expected
    assert {rate for _, rate in chosen} == {0.125}
    wished = [one.model_copy(update={"wish": EvaluationWish(sample_rate=0.1)}) for one in many]
    fewer, _ = choose_candidates(wished, request(sample=0.25), assignment=assign())
    assert {one.key.trace_id for one, _ in fewer} < set(expected)


@given(
    st.floats(min_value=0.01, max_value=200),
    st.lists(st.tuples(st.floats(min_value=0.05, max_value=600), st.integers(0, 60)), max_size=40),
)
def test_no_turn_exceeds_the_rate_nor_makes_up_for_long_pauses(rate, turns):
    now = paced_at = NOON
    begun = []
    for seconds, room in turns:
        now += timedelta(seconds=seconds)
        turn = plan_turn(rate_per_second=rate, paced_at=paced_at, now=now, most=room)
        assert 0 <= turn.size <= room
        assert paced_at <= turn.paced_at <= now + timedelta(milliseconds=1)
        paced_at = turn.paced_at
        begun.append((now, turn.size))
    burst = max(rate * LONGEST_BURST.total_seconds(), 1)
    for first in range(len(begun)):
        span = (begun[-1][0] - begun[first][0]).total_seconds() if begun else 0.0
        assert sum(size for _, size in begun[first:]) <= rate * span + burst + 1


def test_a_slow_rate_adds_up_over_many_steps():
    now = paced_at = NOON
    sizes = []
    for _ in range(40):
        now += timedelta(seconds=1)
        size, paced_at = plan_turn(rate_per_second=0.1, paced_at=paced_at, now=now, most=50)
        sizes.append(size)
    assert sum(sizes) == 4
