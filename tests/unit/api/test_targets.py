import importlib
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fakes.traces import make_trace
from ragsonde.api.targets import answer_anew, describe_question, load_target
from ragsonde_schemas.errors import InputError

MESSAGES = [
    {"role": "user", "content": "I bought a tent."},
    {"role": "assistant", "content": "Nice."},
    {"role": "user", "content": "Can I send it back?"},
]


@pytest.fixture
def application():
    """An HTTP application that answers with what the test puts into `reply`; `asked` holds the questions."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status, body = reply["status"], reply["body"]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object):
            pass

    asked = []
    reply = {"status": 200, "body": b"{}"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/ask", asked, reply
        finally:
            server.shutdown()
            thread.join()


def test_the_question_holds_what_the_user_said_and_not_what_was_answered():
    trace = make_trace(query=None, messages=MESSAGES, session_id="s1", reference="Within 45 days.")

    assert describe_question(trace) == {
        "trace_id": "refund-1",
        "query": "Can I send it back?",
        "messages": MESSAGES,
        "session_id": "s1",
    }


def test_an_answer_as_text_replaces_the_recorded_one_and_leaves_the_contexts_unknown():
    renewed = answer_anew(make_trace(), target=lambda _question: "Within 14 days.")

    assert renewed.answer == "Within 14 days."
    assert renewed.contexts is None


def test_answer_and_contexts_of_a_mapping_are_extracted_like_any_message():
    given = {
        "answer": "Within 14 days.",
        "contexts": ["One. Two.", {"content": "Three.", "id": "c3"}],
        "model": "m",
    }

    renewed = answer_anew(make_trace(), target=lambda _question: given)

    assert [context.number for context in renewed.contexts] == ["1", "2"]
    assert [sentence.number for sentence in renewed.sentences] == ["1.1", "1.2", "2.1"]
    assert renewed.contexts[1].id == "c3"
    assert renewed.model == "m"


def test_what_was_asked_stays_as_it_was():
    trace = make_trace(
        query=None, messages=MESSAGES, reference={"answer": "45 days", "context_ids": ["x"]}, tags=["t"]
    )

    renewed = answer_anew(trace, target=lambda _question: "Yes.")

    for field in ("app", "trace_id", "environment", "occurred_at", "query", "turns", "reference", "tags"):
        assert getattr(renewed, field) == getattr(trace, field)


def test_the_time_taken_is_recorded_unless_the_target_says_it():
    assert answer_anew(make_trace(), target=lambda _question: "x").latency_ms >= 0
    assert (
        answer_anew(make_trace(), target=lambda _question: {"answer": "x", "latency_ms": 12.5}).latency_ms
        == 12.5
    )


def test_a_target_may_be_async():
    async def target(question):
        return f"You asked: {question['query']}"

    assert answer_anew(make_trace(), target=target).answer == "You asked: How long does a refund take?"


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (None, "gave a NoneType, expected a text or a mapping"),
        ({"answr": "x"}, "gave the key answr, expected only answer, contexts"),
        ({"answer": 5}, "answer: found"),
        ({"contexts": [{"content": object()}]}, "cannot be written as JSON"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_told(answered, expected):
    with pytest.raises(InputError, match=expected):
        answer_anew(make_trace(), target=lambda _question: answered)


def test_a_function_is_loaded_from_the_folder_we_are_in(tmp_path, monkeypatch):
    (tmp_path / "rag_app_of_the_test.py").write_text("class App:\n    answer = staticmethod(lambda q: 'x')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere"])

    assert load_target("rag_app_of_the_test:App.answer", timeout_seconds=1)({}) == "x"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no_such_module_of_ours:answer", "No module named 'no_such_module_of_ours'"),
        ("json:no_such_function", "no attribute 'no_such_function'"),
        ("json:__doc__", "is a str, expected a function"),
        ("json", "expected module:function"),
        (":f", "expected module:function"),
        ("ftp://host/ask", r"expected module:function, .* or an http\(s\) URL"),
        ("http://", "no host in it"),
    ],
)
def test_a_target_that_is_none_is_told(name, expected):
    with pytest.raises(InputError, match=f"--target {name}.*{expected}"):
        load_target(name, timeout_seconds=1)


def test_a_url_is_asked_by_post_and_answers_with_json(application):
    url, asked, reply = application
    reply["body"] = json.dumps({"answer": "Yes.", "contexts": []}).encode()

    renewed = answer_anew(make_trace(), target=load_target(url, timeout_seconds=5))

    assert (renewed.answer, renewed.contexts) == ("Yes.", ())
    assert asked == [{"trace_id": "refund-1", "query": "How long does a refund take?"}]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [(503, b"", "answered 503"), (200, b"<html>", "answered no JSON"), (200, b"\xff", "answered no JSON")],
)
def test_what_a_url_answers_wrongly_is_told(application, status, body, expected):
    url, _, reply = application
    reply |= {"status": status, "body": body}

    with pytest.raises(InputError, match=expected):
        load_target(url, timeout_seconds=5)({"query": "x"})


def test_a_url_that_nobody_serves_is_told(application):
    url, _, _ = application
    nobody = url.replace("/ask", "").rpartition(":")[0] + ":1/ask"

    with pytest.raises(InputError, match=r"/ask cannot be reached: Connection refused$"):
        load_target(nobody, timeout_seconds=5)({"query": "x"})


@pytest.mark.parametrize("line", ["raise SystemExit(0)", "1 / 0", "import sys; sys.exit()"])
def test_a_module_that_fails_while_it_is_imported_is_bad_input(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"ending_{uuid.uuid4().hex}"  # imported by nobody before
    (tmp_path / f"{name}.py").write_text(line, encoding="utf-8")
    importlib.invalidate_caches()

    with pytest.raises(InputError, match=rf"--target {name}:ask: importing it raised (System|ZeroDiv)"):
        load_target(f"{name}:ask", timeout_seconds=1)
