from __future__ import annotations

import threading
import time

import pytest

from fakes.clock import FakeClock
from fakes.judge import FakeJudge
from fakes.judge_states import FakeJudgeStates
from fakes.judged_traces import make_trace
from ragsonde.judging.completion import CallNotMadeError
from ragsonde.judging.llm_chain import LlmChain
from ragsonde.judging.room import Room
from ragsonde_schemas.assessment import Aspect, Assessment
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.spending import WorstCase

OWN, SECOND, THIRD = "a" * 16, "b" * 16, "c" * 16
LEVEL = frozenset({Aspect.LEVEL})


def call(name):
    return JudgeCall(purpose="assess", model=name, outcome="ok", seconds=0.1, reply="")


def away(name, **options):
    return JudgeUnavailableError("gpt", f"{name} is away", calls=(call(name),), **options)


def refuses(name):
    return JudgePausedError("gpt", f"{name}: check its API key", calls=(call(name),))


def answer(name):
    return Assessment(reason=f"says {name}", calls=(call(name),))


class Chain:
    """A judge with two fallbacks."""

    def __init__(self, *troubles, prints=(OWN, SECOND, THIRD), size=None, deadline_seconds=60.0, **states):
        self.states = FakeJudgeStates(FakeClock(), **states)
        self.models = [
            FakeJudge("gpt", fingerprint=print_, troubles=given, is_free=False)
            for print_, given in zip(prints, troubles, strict=False)
        ]
        self.chain = LlmChain(
            self.models,
            states=self.states,
            room=Room("gpt", size=size, patience_seconds=0.01),
            deadline_seconds=deadline_seconds,
        )

    def assess(self, **options):
        return self.chain.assess(make_trace(), LEVEL, **options)

    @property
    def asked(self):
        return [len(model.asked) for model in self.models]


def test_while_its_own_model_answers_no_other_is_asked():
    chain = Chain([answer("own")], [answer("second")], [], epochs={OWN: 3})
    given = chain.assess()
    assert (given.reason, given.answered_fingerprint, given.judge_epoch) == ("says own", None, 3)
    assert chain.asked == [1, 0, 0]
    assert (chain.chain.name, chain.chain.fingerprint, chain.chain.is_free) == ("gpt", OWN, False)


def test_a_fallback_answers_in_its_own_name_and_epoch_with_the_calls_of_those_before_it():
    chain = Chain([away("own")], [refuses("second")], [answer("third")], epochs={OWN: 3, THIRD: 2})
    given = chain.assess()
    assert (given.reason, given.answered_fingerprint, given.judge_epoch) == ("says third", THIRD, 2)
    assert [one.model for one in given.calls] == ["own", "second", "third"]


def test_the_same_model_at_another_address_is_the_judges_own_stream_and_not_paused_with_it():
    chain = Chain([refuses("own")], [answer("own, elsewhere")] * 2, prints=(OWN, OWN))
    assert chain.assess().answered_fingerprint is None
    assert chain.assess().reason == "says own, elsewhere"
    assert chain.asked == [1, 2]


@pytest.mark.parametrize(
    ("troubles", "raised", "retry_after"),
    [
        ([away("own", retry_after_seconds=30.0), away("second", retry_after_seconds=5.0)], "second", 5.0),
        ([away("own"), away("second", retry_after_seconds=5.0)], "own", None),
        ([refuses("own"), away("second", retry_after_seconds=300.0)], "second", 300.0),
    ],
)
def test_where_none_answers_the_one_that_may_be_asked_first_is_waited_for(troubles, raised, retry_after):
    chain = Chain(*([trouble] for trouble in troubles))
    with pytest.raises(JudgeUnavailableError, match=f"{raised} is away") as caught:
        chain.assess()
    assert caught.value.retry_after_seconds == retry_after
    assert [one.model for one in caught.value.calls] == ["own", "second"]


def test_a_refusal_pauses_the_model_for_all_and_another_is_not_asked_before_a_probe():
    chain = Chain([refuses("own"), answer("own"), answer("own")])
    with pytest.raises(JudgePausedError):
        chain.assess()
    assert chain.states.told == ["own: check its API key"]
    with pytest.raises(JudgePausedError, match="judge gpt: paused: own: check its API key") as caught:
        chain.assess()
    assert caught.value.calls == ()
    assert chain.asked == [1]
    chain.states.probes = 1
    assert chain.assess().reason == "says own"
    assert chain.states.paused == {}


def test_a_probe_that_meets_an_outage_or_asks_nothing_does_not_end_the_pause():
    chain = Chain([refuses("own"), away("own"), Assessment()], probes=2)
    with pytest.raises(JudgePausedError):
        chain.assess()
    with pytest.raises(JudgeUnavailableError):
        chain.assess()
    chain.assess()
    assert chain.states.paused == {("gpt", OWN): "own: check its API key"}


def test_all_models_share_one_deadline_and_none_is_begun_after_it():
    def wait_and_fail():
        time.sleep(0.02)  # the deadline passes in the first model's call
        return away("own")

    chain = Chain([], [answer("second")], deadline_seconds=0.01)
    chain.models[0].assess = lambda *_, **__: (_ for _ in ()).throw(wait_and_fail())
    with pytest.raises(JudgeUnavailableError, match="own is away"):
        chain.assess()
    chain = Chain([away("own")], [answer("second")])
    limit = time.monotonic() + 5
    chain.assess(deadline=limit)
    assert [model.asked[0][2] for model in chain.models] == [limit, limit]


def test_calls_are_those_of_all_models_tokens_of_the_dearest_and_a_price_that_is_not_known_is_none():
    chain = Chain([], [])
    worst = chain.chain.estimate(make_trace(), LEVEL)
    assert worst == WorstCase(calls=6, tokens=3000, cost_usd=0.03)
    chain.models[1].estimate = lambda *_: WorstCase(calls=2, tokens=5000, cost_usd=0.01)
    worst = chain.chain.estimate(make_trace(), LEVEL)
    assert worst == WorstCase(calls=5, tokens=5000, cost_usd=0.03)
    chain.models[1].estimate = lambda *_: WorstCase(calls=1, tokens=1, cost_usd=None)
    assert chain.chain.estimate(make_trace(), LEVEL).cost_usd is None


def test_no_more_traces_at_once_than_there_is_room_for():
    chain = Chain([answer("own")] * 3, size=1)
    entered, done = threading.Event(), threading.Event()
    inner = chain.models[0].assess

    def assess(*arguments, **options):
        entered.set()
        assert done.wait(30)
        return inner(*arguments, **options)

    chain.models[0].assess = assess
    first = threading.Thread(target=chain.assess)
    first.start()
    assert entered.wait(30)
    with pytest.raises(CallNotMadeError, match="busy with 1 traces"):
        chain.assess()
    done.set()
    first.join()
    assert chain.assess().reason == "says own"


def test_outside_of_a_deployment_one_waits_for_room_until_the_deadline():
    room = Room("gpt", size=1, patience_seconds=None)
    with room.hold(deadline=time.monotonic() + 30):
        begun = time.monotonic()
        with pytest.raises(CallNotMadeError), room.hold(deadline=begun + 0.1):
            pass
        assert time.monotonic() - begun >= 0.1
