"""What the sink is told, and what is told once only, however a run ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.evaluations import make_calls, make_outage_call
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope, make_trace
from ragsonde.pipeline.admitting import admit
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError, ParkReason
from ragsonde_schemas.evaluation import EvaluationState

CALLS = (make_calls()[0], make_outage_call())
ANSWER = Assessment(calls=make_calls())


class InterruptedJudge(FakeJudge):
    """Before it answers, it lets something happen."""

    def __init__(self, *troubles) -> None:
        super().__init__("gpt", is_free=False, fingerprint="a" * 16, troubles=troubles)
        self.interrupt = lambda: None

    def assess(self, trace, aspects, *, deadline=None):
        self.interrupt()
        return super().assess(trace, aspects, deadline=deadline)


def start(*troubles):
    """A judge and stages in which one evaluation waits for it."""
    judge = InterruptedJudge(*troubles)
    stages = make_stages(judge)
    (key,) = admit(make_trace(), stages).pending
    return judge, stages, key


def told_calls(stages):
    return [calls for _, calls in stages.sink.of("on_calls")]


@pytest.mark.parametrize(
    "outage", [JudgeUnavailableError("gpt", "503", calls=CALLS), JudgePausedError("gpt", "401", calls=CALLS)]
)
def test_the_calls_of_a_run_that_an_outage_ended_are_told_and_kept(outage):
    _, stages, key = start(outage, ANSWER)
    evaluate(key, stages)
    assert stages.sink.names() == ["on_admitted", "on_cache_read", "on_calls", "on_postponed"]
    assert stages.traces.evaluations[key].calls == CALLS
    stages.clock.advance(600)
    evaluate(key, stages)
    assert told_calls(stages) == [CALLS, make_calls()]
    assert stages.traces.evaluations[key].calls == CALLS + make_calls()


def test_the_calls_of_an_outage_that_ended_it_for_good_are_kept_too():
    _, stages, key = start(JudgeUnavailableError("gpt", "503", calls=CALLS))
    stages.clock.advance(timedelta(hours=24).total_seconds())
    evaluate(key, stages)
    stored = stages.traces.evaluations[key]
    assert (stored.state, stored.calls, stored.attempts) == (EvaluationState.FAILED, CALLS, 0)
    assert told_calls(stages) == [CALLS]


def test_a_run_that_ends_superseded_tells_its_calls_and_its_rows_and_no_result():
    judge, stages, key = start(ANSWER)
    judge.interrupt = lambda: admit(make_trace(answer="Another."), stages)
    evaluate(key, stages)
    assert stages.traces.evaluations[key].state is EvaluationState.SUPERSEDED
    assert told_calls(stages) == [make_calls()]
    ((result,),) = stages.sink.of("on_superseded")
    assert result == stages.traces.evaluations[key].result
    assert stages.sink.of("on_finished") == []


def test_a_run_whose_lease_was_lost_tells_its_calls_and_nothing_else():
    judge, stages, key = start(ANSWER)

    def lose_lease():
        stages.clock.advance(151)
        assert stages.traces.claim(key)

    judge.interrupt = lose_lease
    evaluate(key, stages)
    assert stages.sink.names() == ["on_admitted", "on_cache_read", "on_calls"]
    assert told_calls(stages) == [make_calls()]


@pytest.mark.parametrize("happens", ["a revision comes", "the lease is lost"])
def test_what_does_not_wait_is_not_told_as_postponed(happens):
    judge, stages, key = start(JudgeUnavailableError("gpt", "503", calls=CALLS))

    def interrupt():
        if happens == "a revision comes":
            admit(make_trace(answer="Another."), stages)
        else:
            stages.clock.advance(151)
            assert stages.traces.claim(key)

    judge.interrupt = interrupt
    evaluate(key, stages)
    assert told_calls(stages) == [CALLS]
    assert stages.sink.of("on_postponed") == []


def test_without_texts_it_fails_for_every_scorer_and_is_counted():
    judge, stages, key = start()
    stages.traces.expired.add(key.trace)
    evaluate(key, stages)
    stored = stages.traces.evaluations[key]
    assert (stored.state, stored.cause) == (EvaluationState.FAILED, Cause.CONTENT_EXPIRED)
    assert {outcome.status for outcome in stored.result.outcomes} == {"error"}
    assert {outcome.cause for outcome in stored.result.outcomes} == {Cause.CONTENT_EXPIRED}
    assert len(stored.result.outcomes) == len(stages.scorers)
    assert stages.sink.names() == ["on_admitted", "on_finished"]
    assert judge.asked == []


def test_a_message_that_is_parked_already_is_told_apart():
    stages = make_stages(FakeJudge("lexical"))
    for _ in range(2):
        ingest(make_envelope(b"{"), stages)
    assert [name for name in stages.sink.names() if name != "on_settled"] == [
        *("on_received", "on_parked", "on_received", "on_parked_again")
    ]
    assert stages.sink.of("on_parked_again") == [(ParkReason.INVALID_JSON,)]
