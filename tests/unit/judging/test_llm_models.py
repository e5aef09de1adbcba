"""A configured LLM judge with a fallback, over HTTP."""

from __future__ import annotations

import pytest

from fakes.clock import FakeClock
from fakes.judge_states import FakeJudgeStates
from fakes.judged_traces import ALL_ASPECTS, make_trace
from mock_llm.server import MockLlm
from ragsonde.judging.options import JudgeOptions
from ragsonde.judging.surroundings import Surroundings
from ragsonde.judging.table import build_judge
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError


@pytest.fixture
def llm():
    with MockLlm() as served:
        yield served


@pytest.fixture
def other():
    with MockLlm() as served:
        yield served


class Told:
    """A judge in a deployment, and what it tells of itself."""

    def __init__(self, options):
        self.circuits = []
        self.states = FakeJudgeStates(FakeClock())
        surroundings = Surroundings(
            states=self.states, on_circuit=lambda *change: self.circuits.append(change), patience_seconds=0.1
        )
        self.judge = build_judge(options, surroundings=surroundings)

    def assess(self):
        return self.judge.assess(make_trace(), ALL_ASPECTS)


def make_options(llm, **options):
    given = {"name": "gpt", "kind": "litellm", "model": "openai/mock", "api_base": llm.url, "api_key": "own"}
    return JudgeOptions(**{**given, **options})


def make_fallback(other):
    return {
        "model": "openai/mock-large",
        "api_base": other.url,
        "api_key": "second",
        "prices": {"input_usd_per_million": 1_000_000, "output_usd_per_million": 0},
    }


def test_a_fallback_is_asked_with_all_that_is_its_own(llm, other):
    llm.run_script("503")
    judge = build_judge(make_options(llm, fallbacks=[make_fallback(other)], api_key="own"))
    given = judge.assess(make_trace(), ALL_ASPECTS)
    assert [(call.model, call.outcome) for call in given.calls] == [
        ("openai/mock", "judge_unavailable"),
        ("openai/mock-large", "ok"),
    ]
    assert given.calls[1].cost_usd == given.calls[1].tokens_in
    assert (llm.calls[0].authorization, other.calls[0].authorization) == ("Bearer own", "Bearer second")
    assert given.answered_fingerprint not in {None, judge.fingerprint}


def test_a_circuit_opens_in_a_deployment_and_what_is_not_sent_is_no_call(llm):
    llm.run_script("503")
    told = Told(make_options(llm, circuit={"failures": 2, "open_seconds": 60}))
    for _ in range(2):
        with pytest.raises(JudgeUnavailableError):
            told.assess()
    with pytest.raises(JudgeUnavailableError, match="left alone") as caught:
        told.assess()
    assert caught.value.calls == ()
    assert 50 < caught.value.retry_after_seconds <= 60
    assert llm.total == 2
    assert told.circuits == [("gpt", "openai/mock", True)]


def test_outside_of_a_deployment_a_judge_that_is_away_is_asked_each_time(llm):
    llm.run_script("503")
    judge = build_judge(make_options(llm, circuit={"failures": 1, "open_seconds": 60}))
    for _ in range(3):
        with pytest.raises(JudgeUnavailableError):
            judge.assess(make_trace(), ALL_ASPECTS)
    assert llm.total == 3


@pytest.mark.parametrize("refusal", ["401", "403", "404", "402", "quota"])
def test_a_refusal_pauses_the_judge_and_says_what_to_do(llm, refusal):
    llm.run_script(refusal)
    told = Told(make_options(llm))
    for _ in range(2):
        with pytest.raises(JudgePausedError):
            told.assess()
    assert llm.total == 1
    (message,) = told.states.told
    assert "judge gpt" not in message


def test_a_key_that_cannot_be_read_pauses_it_too_and_a_new_key_is_read_without_a_restart(llm, tmp_path):
    key = tmp_path / "key"
    told = Told(make_options(llm, api_key=None, api_key_file=key))
    with pytest.raises(JudgePausedError, match="cannot read the API key"):
        told.assess()
    assert llm.total == 0
    key.write_text("rotated\n")
    told.states.probes = 1
    told.assess()
    assert told.states.paused == {}
    assert llm.calls[0].authorization == "Bearer rotated"
