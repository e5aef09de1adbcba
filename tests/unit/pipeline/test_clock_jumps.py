"""The time of day jumps under a worker: what it works on ends as if nothing had been."""

import pytest

from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.traces import make_envelope
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde_schemas.errors import JudgeUnavailableError

HOUR, DAY = 3600, 86_400
JUMPS = [sign * seconds for seconds in (HOUR, DAY, 40 * DAY) for sign in (1, -1)]


class JumpingJudge(FakeJudge):
    """While it is asked the clock jumps."""

    def __init__(self, jump):
        super().__init__("gpt", is_free=False)
        self.jump = jump

    def assess(self, trace, aspects, *, deadline=None):
        self.jump()
        return super().assess(trace, aspects, deadline=deadline)


def evaluate_due(stages):
    due = stages.traces.take_due(limit=10)
    for key in due:
        evaluate(key, stages)
    return len(due)


@pytest.mark.parametrize("seconds", JUMPS)
def test_a_jump_while_a_judge_is_asked_cuts_nothing_off_and_starts_nothing_again(seconds):
    judge = JumpingJudge(lambda: stages.clock.jump(seconds))
    stages = make_stages(judge)
    ingest(make_envelope(), stages)
    assert states(stages) == {"gpt": "scored"}
    assert evaluate_due(stages) == 0
    assert len(judge.asked) == 1


@pytest.mark.parametrize("seconds", JUMPS)
def test_what_waits_for_its_judge_over_a_jump_is_judged_once_and_none_of_its_attempts_is_burned(seconds):
    judge = FakeJudge("gpt", is_free=False, troubles=[JudgeUnavailableError("gpt", "503")])
    stages = make_stages(judge)
    ingest(make_envelope(), stages)
    assert states(stages) == {"gpt": "waiting"}
    stages.clock.jump(seconds)
    # at the latest when the clock is where it was
    stages.clock.advance(10 + max(0, -seconds))
    assert evaluate_due(stages) == 1
    assert states(stages) == {"gpt": "scored"}
    assert evaluate_due(stages) == 0
    (stored,) = stages.traces.evaluations.values()
    assert (len(judge.asked), stored.attempts) == (2, 0)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR, DAY, -DAY])
def test_a_message_without_a_time_that_comes_again_after_a_jump_is_the_same_trace(seconds):
    judge = FakeJudge("gpt", is_free=False)
    stages = make_stages(judge)
    for _ in range(2):
        now = stages.clock.now()
        ingest(make_envelope(occurred_at=None, received_at=now), stages)
        stages.clock.jump(seconds)
    assert len(stages.traces.traces) == 1
    assert len(judge.asked) == 1


@pytest.mark.parametrize("seconds", [seconds for seconds in JUMPS if seconds > -DAY])
def test_the_time_that_the_producer_gave_holds_whatever_our_clock_says_within_retention(seconds):
    stages = make_stages(FakeJudge())
    stages.clock.jump(seconds)
    ingest(make_envelope(received_at=stages.clock.now()), stages)
    (trace,) = stages.traces.traces
    assert (trace.key.day.isoformat(), trace.occurred_at_guessed) == ("2026-06-15", False)


def test_a_clock_that_is_weeks_behind_guesses_the_time_and_keeps_the_one_the_producer_gave():
    stages = make_stages(FakeJudge())
    stages.clock.jump(-40 * DAY)
    ingest(make_envelope(received_at=stages.clock.now()), stages)
    (trace,) = stages.traces.traces
    assert trace.occurred_at_guessed
    assert trace.claimed_occurred_at.startswith("2026-06-15T11:59:58")
    assert states(stages) == {"fake": "scored"}
