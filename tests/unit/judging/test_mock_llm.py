"""The mock provider keeps to what its users rely on."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm, read_script

TESTS = Path(__file__).parents[2]
PROMPT = [
    {"role": "system", "content": 'Form: {"c": [{"k": "1", "y": 1}]}'},
    {
        "role": "user",
        "content": "##\n## question\nWhich battery? marker=m1\n## context 1\n1.1 A battery.\n## end",
    },
]


def send(url, messages=PROMPT, path="chat/completions"):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        body = {"model": "mock", "messages": messages} if path == "chat/completions" else messages
        connection.request("POST", f"{parts.path}/{path}" if "/" in path else f"/{path}", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read(), response.headers
    finally:
        connection.close()


def test_one_outcome_after_the_other_and_the_last_for_ever():
    with MockLlm(["429", "ok", "500"]) as llm:
        assert [send(llm.url)[0] for _ in range(4)] == [429, 200, 500, 500]
        assert llm.counts == {"429": 1, "ok": 1, "500": 2}
        assert llm.by_marker == {"m1": 4}
        assert llm.calls[0].messages == PROMPT


def test_a_reply_has_the_keys_that_the_instructions_name():
    with MockLlm() as llm:
        body = json.loads(send(llm.url)[1])
    assert json.loads(body["choices"][0]["message"]["content"]) == {"c": [{"k": "1", "y": 1}]}
    assert (
        body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
    )


def test_shares_depend_on_seed_and_data_and_not_on_order():
    def outcomes(order, seed):
        with MockLlm({"500": 0.5}, seed=seed) as llm:
            return {n: send(llm.url, [{"role": "user", "content": str(n)}])[0] for n in order}

    first = outcomes(range(30), 1)
    assert outcomes(reversed(range(30)), 1) == first
    assert outcomes(range(30), 2) != first
    assert set(first.values()) == {200, 500}


def test_a_function_may_choose():
    with MockLlm(lambda request: "ok" if request["model"] == "mock" else "404") as llm:
        assert send(llm.url)[0] == 200


def test_headers_delay_and_many_at_once():
    with MockLlm(Outcome("429", retry_after="3", seconds=0.1)) as llm:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: send(llm.url), range(8)))
        assert {headers["Retry-After"] for _, _, headers in answers} == {"3"}
        assert llm.most_at_once > 1


def test_an_unknown_outcome_is_refused_at_once():
    with pytest.raises(ValueError, match="unknown outcome 'oops'; known: 400"):
        MockLlm("oops")


def test_stopped_it_refuses_and_starts_again_at_the_same_address():
    with MockLlm() as llm:
        url = llm.url
        llm.stop()
        with pytest.raises(ConnectionError):
            send(url)
        llm.start()
        assert (llm.url, send(url)[0]) == (url, 200)


def test_a_caller_that_goes_away_ends_a_hanging_call():
    with MockLlm("hang") as llm:
        parts = urlsplit(llm.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=0.1)
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": "m", "messages": PROMPT}))
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()


@pytest.mark.parametrize(
    ("text", "script"),
    [("ok", "ok"), ("429,ok", ["429", "ok"]), ("429=0.05,500=0.1", {"429": 0.05, "500": 0.1})],
)
def test_scripts_of_the_command_line(text, script):
    assert read_script(text) == script


def test_it_runs_as_a_process_that_can_be_told_what_to_do():
    command = [sys.executable, "-m", "mock_llm.server", "--script", "429,500"]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            assert [send(url)[0], send(url)[0]] == [429, 500]
            assert send(url, {"script": "ok"}, "script")[0] == 200
            assert send(url)[0] == 200
            assert _get_stats(url)["counts"] == {"429": 1, "500": 1, "ok": 1}
        finally:
            process.terminate()


def _get_stats(url):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        connection.request("GET", "/stats")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()
