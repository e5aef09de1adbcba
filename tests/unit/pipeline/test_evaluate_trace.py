from datetime import timedelta

import pytest

from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.traces import make_envelope
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde_schemas.errors import (
    Cause,
    DatabaseLostError,
    JudgePausedError,
    JudgeUnavailableError,
    ParkReason,
    RepeatedCrashError,
)
from ragsonde_schemas.evaluation import EvaluationState

DOWN = JudgeUnavailableError("gpt", "503")


def free():
    return FakeJudge("lexical")


def paid(*troubles):
    return FakeJudge("gpt", is_free=False, fingerprint="a" * 16, troubles=troubles)


def test_a_message_is_scored_by_every_judge_in_one_go():
    stages = make_stages(free(), paid())
    ingest(make_envelope(), stages)
    assert states(stages) == {"lexical": "scored", "gpt": "scored"}
    assert stages.sink.names() == [
        "on_received",
        "on_admitted",
        "on_settled",
        "on_cache_read",
        "on_finished",
    ]


def test_the_same_message_again_is_a_duplicate_and_costs_nothing():
    stages = make_stages(free(), judge := paid())
    for _ in range(3):
        ingest(make_envelope(), stages)
    assert len(judge.asked) == 1
    assert [admission.kind for _, admission, _ in stages.sink.of("on_admitted")] == [
        "new",
        "duplicate",
        "duplicate",
    ]


def test_changed_content_is_a_revision_and_the_older_one_is_superseded():
    stages = make_stages(free())
    ingest(make_envelope(), stages)
    ingest(make_envelope(answer="Fourteen days."), stages)
    assert sorted(stored.state.value for stored in stages.traces.evaluations.values()) == [
        "scored",
        "superseded",
    ]


def test_an_outage_leaves_the_free_scores_and_burns_no_attempt():
    stages = make_stages(free(), paid(DOWN))
    ingest(make_envelope(), stages)
    assert states(stages) == {"lexical": "scored", "gpt": "waiting"}
    (waiting,) = [stored for stored in stages.traces.evaluations.values() if stored.key.judge == "gpt"]
    assert (waiting.attempts, waiting.unfinished_starts) == (0, 0)
    assert stages.sink.of("on_postponed") == [("gpt", Cause.JUDGE_UNAVAILABLE)]


def test_what_waited_is_judged_when_it_is_due():
    stages = make_stages(free(), judge := paid(DOWN, JudgePausedError("gpt", "401")))
    ingest(make_envelope(), stages)
    for _ in range(2):
        stages.clock.advance(600)
        (key,) = stages.traces.take_due(limit=10)
        evaluate(key, stages)
    assert states(stages)["gpt"] == "scored"
    assert len(judge.asked) == 3


def test_an_evaluation_that_is_not_due_is_left_alone():
    stages = make_stages(judge := paid(DOWN))
    ingest(make_envelope(), stages)
    (key,) = stages.traces.evaluations
    evaluate(key, stages)
    assert len(judge.asked) == 1


def test_after_a_day_of_outage_it_ends_as_an_error_and_never_as_a_number():
    stages = make_stages(paid(DOWN, DOWN))
    ingest(make_envelope(), stages)
    stages.clock.advance(timedelta(hours=24).total_seconds())
    (key,) = stages.traces.take_due(limit=10)
    evaluate(key, stages)
    (stored,) = stages.traces.evaluations.values()
    assert (stored.state, stored.cause) == (EvaluationState.FAILED, Cause.JUDGE_UNAVAILABLE)
    assert {outcome.status for outcome in stored.result.outcomes} == {"error"}


def test_a_fault_in_a_judge_fails_its_evaluation_and_is_passed_on_to_be_parked():
    stages = make_stages(free(), paid(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        ingest(make_envelope(), stages)
    assert states(stages) == {"lexical": "scored", "gpt": "failed"}


def test_the_third_start_of_an_evaluation_that_died_twice_does_not_happen():
    stages = make_stages(judge := paid(DOWN))
    ingest(make_envelope(), stages)
    (key,) = stages.traces.evaluations
    stages.clock.advance(600)
    for _ in range(2):
        assert stages.traces.claim(key)
        stages.clock.advance(151)
    with pytest.raises(RepeatedCrashError):
        evaluate(key, stages)
    (stored,) = stages.traces.evaluations.values()
    assert (stored.state, stored.cause) == (EvaluationState.FAILED, Cause.REPEATED_CRASH)
    assert len(judge.asked) == 1


@pytest.mark.parametrize("method", ["finish", "postpone"])
def test_what_was_judged_is_not_judged_again_because_postgres_was_away_for_a_moment(method):
    losses = [DatabaseLostError("away")] * 3

    def insist(action):
        while True:
            try:
                return action()
            except DatabaseLostError:
                pass

    stages = make_stages(judge := paid(*([DOWN] if method == "postpone" else [])), insist=insist)
    real = getattr(stages.traces, method)

    def lose(*args, **kwargs):
        if losses:
            raise losses.pop()
        return real(*args, **kwargs)

    setattr(stages.traces, method, lose)
    ingest(make_envelope(), stages)
    assert len(judge.asked) == 1
    assert states(stages) == {"gpt": "scored" if method == "finish" else "waiting"}


def test_a_fault_in_one_evaluation_does_not_keep_the_other_judges_waiting():
    failing, other = paid(ZeroDivisionError()), FakeJudge("other", is_free=False, fingerprint="c" * 16)
    stages, failed = make_stages(failing, other), []

    def run(key, work):
        try:
            work()
        except ZeroDivisionError:
            failed.append(key.judge)

    ingest(make_envelope(), stages, run=run)
    assert failed == ["gpt"]
    assert states(stages) == {"gpt": "failed", "other": "scored"}


def test_a_judge_that_was_reconfigured_does_not_judge_under_the_old_name():
    stages = make_stages(paid(DOWN))
    ingest(make_envelope(), stages)
    (key,) = stages.traces.evaluations
    changed = make_stages(FakeJudge("gpt", fingerprint="b" * 16), traces=stages.traces, clock=stages.clock)
    stages.clock.advance(600)
    evaluate(key, changed)
    assert stages.traces.evaluations[key].cause is Cause.JUDGE_RETIRED


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", ParkReason.EMPTY_BODY),
        (b'{"trace_id": "t", "contexts": [', ParkReason.INVALID_JSON),
        (b'{"trace_id": "' + b"x" * 500 + b'", "query": "q"}', ParkReason.BAD_TRACE_ID),
        (b'{"trace_id": "\xff"}', ParkReason.INVALID_UTF8),
        (b'{"schema_version": "9", "trace_id": "t"}', ParkReason.UNSUPPORTED_SCHEMA_VERSION),
    ],
)
def test_junk_is_parked_with_its_reason_and_counted(body, reason):
    stages = make_stages(free())
    ingest(make_envelope(body), stages)
    assert [parked.reason for parked in stages.parking.parked] == [reason]
    assert stages.sink.names() == ["on_received", "on_parked", "on_settled"]
    assert stages.sink.of("on_received") == [("unknown",)]
    assert stages.traces.evaluations == {}
