"""`ragsonde evaluate` tells which model answered, why not the judge's own, and what the calls cost."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fakes.traces import REFUND
from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm
from ragsonde.cli.main import run

OWN, OTHER = "openai/mock-a", "openai/mock-b"


@pytest.fixture
def llm():
    with MockLlm("401") as served:
        yield served


@pytest.fixture
def other():
    with MockLlm(Outcome("ok", tokens_in=900, tokens_out=100)) as served:
        yield served


@pytest.fixture
def call(llm, other, capsys, monkeypatch):
    """Evaluates three traces with the judge `gpt`; its exit code and what it prints."""

    monkeypatch.setenv("KEY_OF_A", "own")
    monkeypatch.setenv("KEY_OF_B", "second")

    def write(prices):
        fallback = {"model": OTHER, "api_base": other.url, "api_key_env": "KEY_OF_B", "prices": prices}
        own = {"name": "gpt", "kind": "litellm", "model": OWN, "api_base": llm.url, "api_key_env": "KEY_OF_A"}
        Path("ragsonde.yaml").write_text(json.dumps({"judges": [{**own, "fallbacks": [fallback]}]}))

    def evaluate(*arguments, prices=None):
        write(prices)
        lines = [json.dumps({**REFUND, "trace_id": f"t{number}"}) for number in range(3)]
        Path("traces.jsonl").write_text("\n".join(lines))
        # one thread: of many, each would make a client of litellm that nobody closes
        options = ["--judge", "gpt", "--scorers", "context_precision", "--threads", "1"]
        with pytest.raises(SystemExit) as ended:
            run(["evaluate", "traces.jsonl", *options, *arguments])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return evaluate


def test_the_head_names_the_fallback_and_standard_error_the_reason_once(call):
    code, out, err = call()
    assert code == 0
    assert f"3 answered by {OTHER} (fallback " in " ".join(out.split())
    assert err.count(f"{OWN} did not answer, {OTHER} did in its place: ") == 1
    assert "401" in err


def test_each_item_of_the_json_says_which_model_answered(call):
    code, out, _ = call("--output", "json")
    *items, last = [json.loads(line) for line in out.splitlines()]
    summary = last["summary"]
    assert code == 0
    assert {item["answered_model"] for item in items} == {OTHER}
    (fingerprint,) = {item["answered_fingerprint"] for item in items}
    assert fingerprint not in {None, summary["fingerprint"]}
    assert summary["answered"] == [
        {"model": OTHER, "fingerprint": fingerprint, "fallback": True, "traces": 3}
    ]


def test_the_judges_own_answers_carry_its_own_fingerprint(call, llm):
    llm.run_script("ok")
    _, out, err = call("--output", "json")
    *items, last = [json.loads(line) for line in out.splitlines()]
    assert {item["answered_fingerprint"] for item in items} == {last["summary"]["fingerprint"]}
    assert {item["answered_model"] for item in items} == {OWN}
    assert "did not answer" not in err


def test_junit_says_which_model_answered(call):
    _, out, _ = call("--output", "junit")
    suite = ET.fromstring(out.partition("\n")[2]).find("testsuite")  # noqa: S314 - written by us
    assert suite.get("tests") == "3"
    told = [one.get("value") for one in suite.findall("properties/property[@name='answered']")]
    assert len(told) == 1
    assert told[0].startswith(f"3 by {OTHER} (fallback ")
    by_case = suite.findall("testcase/properties/property[@name='answered_model']")
    assert [one.get("value") for one in by_case] == [OTHER] * 3


def test_calls_tokens_and_a_known_cost_are_one_line(call):
    # three answers of 900 and 100 tokens at 2 and 10 USD a million: 3 * (0.0018 + 0.001)
    _, out, _ = call(prices={"input_usd_per_million": 2, "output_usd_per_million": 10})
    assert "6 calls (3 unanswered), 2700 tokens in, 300 out, 0.008400 USD" in " ".join(out.split())


def test_a_cost_that_is_not_known_is_said_to_be_so(call):
    _, out, _ = call()
    assert "2700 tokens in, 300 out, cost unknown" in " ".join(out.split())
    _, out, _ = call("--output", "json")
    usage = json.loads(out.splitlines()[-1])["summary"]["usage"]
    assert usage == {
        "calls": 6,
        "unanswered": 3,
        "tokens_in": 2700,
        "tokens_out": 300,
        "cost_usd": None,
    }
