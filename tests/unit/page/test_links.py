"""Links open what they name, whatever it is called."""

from __future__ import annotations

import re
from html import unescape

import pytest

from fakes.histories import evaluate, tell
from fakes.judged_traces import make_trace
from ragsonde.page.links import link_trace
from ragsonde_schemas.history import TraceHistory
from services.page_client import TOKEN, ask, log_in, read_cookie

IDS = [
    "/",
    ".",
    "..",
    "/a",
    "//evil.example",
    "a/../b",
    "a b",
    "a?b#c&d",
    "%2e%2e",
    "ключ",
    "\u202egnp",
    "t-1",
]


@pytest.mark.parametrize("trace_id", IDS)
def test_every_id_is_opened_by_its_link(start, watching, trace_id):
    trace = make_trace(trace_id=trace_id, app="shop")
    watching.histories = {trace_id: tell(trace, evaluate(trace), evaluate(trace, judge="gpt", calls=1))}
    server = start()
    status, _, body = ask(server, link_trace(trace_id, app="shop"))
    assert status == 200
    judge = unescape(re.search(r'<a href="([^"]*)">lexical@ffffff</a>', body)[1])
    assert "app=shop" in judge, "which app's is kept"
    assert "as lexical@ffffff judged" in ask(server, judge)[2]


@pytest.mark.parametrize("trace_id", IDS)
def test_who_logs_in_comes_to_the_trace_that_was_asked_for(start, watching, trace_id):
    trace = make_trace(trace_id=trace_id, app="shop")
    watching.histories = {trace_id: tell(trace, evaluate(trace))}
    server = start(auth="token", token=TOKEN)
    _, headers, _ = ask(server, link_trace(trace_id, app="shop"))
    body = ask(server, headers["Location"])[2]
    target = unescape(re.search(r'name="next" value="([^"]*)"', body)[1])
    _, headers, _ = log_in(server, next=target)
    status, _, body = ask(server, headers["Location"], Cookie=read_cookie(headers))
    assert (status, "<article>" in body) == (200, True)


def test_a_question_mark_of_an_id_in_a_path_survives_the_login(start):
    _, headers, _ = ask(start(auth="token", token=TOKEN), "/traces/a%3Fb?app=x")
    assert headers["Location"] == "/login?next=/traces/a%253Fb%3Fapp%3Dx"


def test_elements_of_two_apps_traces_with_one_id_have_ids_of_their_own(start, watching):
    first, second = (make_trace(trace_id="t", app=app) for app in ("shop", "help"))
    (one,), (other,) = (tell(trace, evaluate(trace)).revisions for trace in (first, second))
    watching.histories = {"t": TraceHistory(trace_id="t", revisions=(one, other), parked=())}
    body = ask(start(), "/traces/t")[2]
    ids = re.findall(r' id="([^"]*)"', body)
    assert len(ids) == len(set(ids)) > 6
    assert 'href="/?app=shop&amp;environment=production"' in body
    assert 'href="/?app=help&amp;environment=production"' in body


def test_of_a_trace_that_is_not_there_is_said_what_that_may_mean(start):
    status, _, body = ask(start(), "/traces/t-9")
    assert status == 404
    assert "Never seen" in body
    assert "ragsonde forget" in body
    assert "retention_days" in body


def test_a_trace_of_another_app_is_led_to(start, watching):
    trace = make_trace(trace_id="t", app="help")
    watching.histories = {"t": tell(trace, evaluate(trace))}
    status, _, body = ask(start(), "/traces/t?app=shop")
    assert status == 404
    assert 'href="/traces/t?app=help"' in body
