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
