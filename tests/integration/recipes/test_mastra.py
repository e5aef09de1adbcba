"""Mastra's recipe: the snippet runs in node, and what it posts is a trace."""

import json
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ragsonde.api.traces import read_traces
from ragsonde.extraction.report import describe_trace

ROOT = Path(__file__).parents[3]
SNIPPET = ROOT / "deploy" / "mastra" / "send-run.mjs"
RUN = ROOT / "tests" / "data" / "samples" / "mastra_scorer_run.json"
SEND = """
const { sendRun } = await import(process.argv[1]);
const { readFileSync } = await import('node:fs');
const run = JSON.parse(readFileSync(process.argv[2]));
run.requestContext = { live() {} };
run.tracingContext = run;
console.log(JSON.stringify(await sendRun(run)));
"""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


class Posted(list):
    """What was posted: path, headers and body of each request."""


@pytest.fixture
def listener():
    """A server that answers as the receiver does, or with `status`."""
    posted = Posted()

    class Handler(BaseHTTPRequestHandler):
        status = 202

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            posted.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            answer = b'{"accepted": 1}'
            self.send_response(self.status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Nothing: what matters is in `posted`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", posted, Handler
        server.shutdown()
        thread.join()


def send(url, **environment):
    return subprocess.run(
        ["node", "--input-type=module", "-e", SEND, str(SNIPPET), str(RUN)],
        env={"RAGSONDE_URL": url, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_snippet_posts_a_run_that_extracts_as_the_run_itself(listener):
    url, posted, _ = listener
    sent = send(url, RAGSONDE_TOKEN="secret")
    assert (sent.stderr, json.loads(sent.stdout)) == ("", {"accepted": 1})
    ((path, headers, body),) = posted
    assert (path, headers["content-type"], headers["authorization"]) == (
        "/traces",
        "application/json",
        "Bearer secret",
    )
    (expected,) = map(describe_trace, read_traces(RUN.read_bytes()))
    (found,) = map(describe_trace, read_traces(body))
    assert found == expected
    assert found["contexts"]


def test_without_a_token_none_is_shown(listener):
    url, posted, _ = listener
    send(url)
    ((_, headers, _),) = posted
    assert "authorization" not in headers


def test_a_refusal_is_an_error_that_tells_what_was_answered(listener):
    url, _, handler = listener
    handler.status = 503
    sent = send(url)
    assert sent.returncode == 1
    assert 'Error: ragsonde answered 503: {"accepted": 1}' in sent.stderr


def test_the_scorer_hands_its_run_to_the_snippet():
    text = (SNIPPET.parent / "scorer.mjs").read_text()
    assert "import { sendRun } from './send-run.mjs';" in text
    assert "await sendRun(run);" in text


def make_span(number, parent, operation, times, **attributes):
    """A span as Mastra's exporter fills it; times in milliseconds, values in JSON where they are no texts."""
    begun, ended = (1_795_990_275_000_000_000 + time * 1_000_000 for time in times)
    values = {"gen_ai.operation.name": operation, **attributes}
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": operation,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(ended),
        "attributes": [
            {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
            for key, value in values.items()
        ],
    }


def test_what_a_tool_returned_inside_the_one_generation_of_an_agent_are_contexts():
    """One `chat` span holds all steps of the agent, with the tools that it called below it."""
    question = {"role": "user", "parts": [{"type": "text", "content": "How long does a refund take?"}]}
    reply = {"role": "assistant", "parts": [{"type": "text", "content": "Within 14 days."}]}
    found = [{"id": "faq-12", "text": "A refund is issued within 14 days.", "score": 0.9}]
    spans = [
        make_span(1, None, "invoke_agent", (0, 100), **{"gen_ai.conversation.id": "thread-1"}),
        make_span(
            2, 1, "chat", (1, 90), **{"gen_ai.input.messages": [question], "gen_ai.output.messages": [reply]}
        ),
        make_span(3, 2, "model_step", (2, 45)),
        make_span(4, 3, "execute_tool", (20, 40), **{"gen_ai.tool.call.result": found}),
        make_span(5, 2, "model_step", (46, 88)),
    ]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    (described,) = map(describe_trace, read_traces(body))
    assert (described["query"], described["answer"]) == ("How long does a refund take?", "Within 14 days.")
    assert [(one["id"], one["origin"]) for one in described["contexts"]] == [("faq-12", "tool")]
    assert described["session_id"] == "thread-1"
