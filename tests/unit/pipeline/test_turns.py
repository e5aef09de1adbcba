"""Who waits for his turn has begun nothing: what takes the process with it is to blame alone."""

import threading

import pytest

from fakes.check_store import FakeCheckStore
from fakes.evaluations import make_trace, plan_paid
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde.pipeline.turns import claiming_in_turn
from ragsonde_schemas.check import CheckKey
from ragsonde_schemas.errors import RepeatedCrashError

SECONDS = 5


def leave_unfinished(stages, *, times=1):
    """The key of an evaluation that so many workers took up before they died."""
    (key,) = stages.traces.admit(make_trace(), (plan_paid(),)).pending
    for _ in range(times):
        assert stages.traces.claim(key) is not None
        stages.clock.advance(151)
    return key


@pytest.mark.parametrize(("unfinished", "is_alone"), [(0, True), (1, True), (1, False), (2, False)])
def test_while_it_waits_for_its_turn_nothing_is_counted(unfinished, is_alone):
    stages = make_stages(FakeJudge("gpt", is_free=False))
    key = leave_unfinished(stages, times=unfinished)
    entered = threading.Event()

    def wait():
        entered.set()
        with claiming_in_turn(stages.traces, key, stages.isolation):
            pass

    with stages.isolation.hold(alone=is_alone):
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        assert entered.wait(SECONDS)
        waiting.join(0.05)
        assert waiting.is_alive()
        assert stages.traces.evaluations[key].unfinished_starts == unfinished
    waiting.join(SECONDS)
    assert stages.traces.evaluations[key].unfinished_starts == unfinished + 1


def test_a_suspect_that_comes_up_in_shared_work_is_left_to_the_sweeper():
    stages = make_stages(judge := FakeJudge("gpt", is_free=False))
    ingest(make_envelope(), stages, run=lambda *_: None)
    (key,) = stages.traces.evaluations
    stages.traces.claim(key)
    stages.clock.advance(151)
    with stages.isolation.hold(alone=False):
        evaluate(key, stages)
    assert judge.asked == []
    assert stages.traces.take_due(limit=10) == [key]
    evaluate(key, stages)
    assert len(judge.asked) == 1


def test_the_third_start_fails_it_and_says_which_it_was():
    stages = make_stages(judge := FakeJudge("lexical", is_free=False))
    key = leave_unfinished(stages, times=2)
    with pytest.raises(RepeatedCrashError, match=f"trace {key.trace.trace_id}, judge {key.judge}"):
        evaluate(key, stages)
    assert judge.asked == []


def test_what_is_not_due_or_not_there_is_claimed_by_nobody():
    stages = make_stages(FakeJudge("gpt", is_free=False))
    key = leave_unfinished(stages, times=0)
    stages.traces.claim(key)
    for store, name in (
        (stages.traces, key),
        (stages.spans, "f" * 32),
        (FakeCheckStore(), CheckKey(check_id=1, judge="gpt", fingerprint="a" * 16, day=key.trace.day)),
    ):
        with claiming_in_turn(store, name, stages.isolation) as claimed:
            assert claimed is None
