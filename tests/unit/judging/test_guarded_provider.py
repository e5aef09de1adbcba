from __future__ import annotations

import pytest

from fakes.clock import FakeClock
from fakes.provider import FakeProvider, make_completion
from ragsonde.judging.circuit import Circuit
from ragsonde.judging.completion import CallFaultError, CallNotMadeError, NotAskedError
from ragsonde.judging.guarded_provider import GuardedProvider
from ragsonde.judging.options import CircuitOptions
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

OUTAGE = JudgeUnavailableError("gpt", "503")
GOOD = make_completion("{}")


class Guarded:
    """A provider whose circuit opens with the first outage, for 10 s."""

    def __init__(self, *script):
        self.clock = FakeClock()
        self.inner = FakeProvider(list(script))
        circuit = Circuit(CircuitOptions(failures=1), monotonic=self.clock.monotonic)
        self.provider = GuardedProvider(self.inner, judge="gpt", circuit=circuit)

    def ask(self):
        return self.provider.complete([], schema={}, max_tokens=64, timeout_seconds=1)

    def ask_in_vain(self, error):
        with pytest.raises(type(error)) as caught:
            self.ask()
        assert caught.value is error


def test_a_model_that_is_away_is_not_asked_and_who_asks_is_told_for_how_long():
    guarded = Guarded(OUTAGE, GOOD)
    guarded.ask_in_vain(OUTAGE)
    guarded.clock.advance(4)
    with pytest.raises(CallNotMadeError, match="judge gpt: left alone") as caught:
        guarded.ask()
    assert caught.value.retry_after_seconds == 6
    assert len(guarded.inner.asked) == 1
    guarded.clock.advance(6)
    assert guarded.ask() is GOOD


def test_the_wait_that_the_provider_asked_for_holds_for_all():
    asked = JudgeUnavailableError("gpt", "429", retry_after_seconds=3.0)
    guarded = Guarded(asked)
    guarded.ask_in_vain(asked)
    with pytest.raises(CallNotMadeError) as caught:
        guarded.ask()
    assert caught.value.retry_after_seconds == 3


@pytest.mark.parametrize(
    "refusal", [CallFaultError(Cause.CONTENT_REFUSED, "no"), JudgePausedError("gpt", "401")]
)
def test_a_model_that_refuses_is_there(refusal):
    guarded = Guarded(OUTAGE, refusal, GOOD)
    guarded.ask_in_vain(OUTAGE)
    guarded.clock.advance(10)
    guarded.ask_in_vain(refusal)
    assert guarded.ask() is GOOD


@pytest.mark.parametrize("error", [NotAskedError("gpt", "no key"), KeyError("a fault of ours")])
def test_a_call_that_says_nothing_of_the_model_leaves_the_probe_to_the_next(error):
    guarded = Guarded(OUTAGE, error, GOOD)
    guarded.ask_in_vain(OUTAGE)
    guarded.clock.advance(10)
    guarded.ask_in_vain(error)
    assert guarded.ask() is GOOD
