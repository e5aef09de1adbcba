"""What a browser is shown at each path."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from fakes.watching import make_activity, make_counts, make_listed, make_place
from ragsonde_schemas.errors import ParkReason
from services.page_client import ask

HOSTILE = '<script>alert("x")</script>'


def test_where_every_trace_went_is_shown(start, watching):
    states = {"scored": 1200, "not_evaluable": 50}
    watching.places = [make_place(judges=(make_counts(states=states),))]
    watching.parked = {ParkReason.INVALID_JSON: 3}
    status, headers, body = ask(start(), "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", body).split())
    assert "judge scored not evaluable lexical 1,200 50" in text
    assert "3 invalid json." in text


def test_the_place_asked_for_is_shown_else_the_busiest(start, watching):
    busy, other = make_activity("shop"), make_activity("help", "staging", traces=3)
    watching.places = [make_place(busy), make_place(other)]
    server = start()
    assert "<h1><bdi>shop, production</bdi></h1>" in ask(server, "/")[2]
    assert "<h1><bdi>help, staging</bdi></h1>" in ask(server, "/?app=help")[2]


def test_an_app_without_traces_is_not_another_one(start, watching):
    watching.places = [make_place()]
    status, _, body = ask(start(), "/?app=payments")
    assert status == 200
    assert "<h1><bdi>payments</bdi>: no trace in the last 24 hours</h1>" in body
    assert 'href="/?app=shop&amp;environment=production"' in body
    assert "<h1><bdi>shop, staging</bdi>: no trace" in ask(start(), "/?app=shop&environment=staging")[2]


def test_nothing_at_all_says_how_to_begin(start):
    body = ask(start(), "/")[2]
    assert "<h1>No trace in the last 24 hours</h1>" in body
    assert "/v1/traces" in body


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("state=lost", "state: found &#39;lost&#39;"),
        ("bin=3", "scorer=NAME"),
        ("scorer=x&bin=10", "bin: found &#39;10&#39;"),
        ("page=0", "page: found"),
        ("page=21", "page: found"),
        ("day=yesterday", "day: found"),
        ("until=2026-10-07T12:00:00", "with its zone"),
    ],
)
def test_a_list_that_is_none_is_refused_in_words(start, query, problem):
    status, _, body = ask(start(), f"/traces?{query}")
    assert status == 400
    assert problem in body


def test_a_list_asks_for_what_its_address_says_and_leads_on(start, watching):
    watching.listed = (make_listed("t-1", raw=0.25, judge="lexical", reason="1 of 4"),)
    watching.has_more = True
    body = ask(start(), "/traces?app=default&environment=x&scorer=context_precision&bin=2&scored=yes&page=2")[
        2
    ]
    (wanted,) = watching.wanted
    assert (wanted.app, wanted.environment, wanted.scorer) == ("", "x", "context_precision")
    assert (wanted.bin, wanted.is_scored, wanted.page) == (2, True, 2)
    assert "0.25" in body
    older = re.search(r'href="([^"]*)">Older', body)[1]
    assert "page=3" in older
    assert "app=default" in older
    assert "scored=yes" in older
    assert "until=2026-10-07" in older
    assert re.search(r'page=1[^"]*">Newer', body)


def test_nothing_is_loaded_from_anywhere_and_nobody_may_frame_it(start):
    _, headers, body = ask(start(), "/")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", body)


def test_names_are_escaped(start, watching):
    watching.places = [make_place(make_activity(HOSTILE), judges=(make_counts(HOSTILE),))]
    watching.listed = (make_listed(HOSTILE, reason=HOSTILE, release=HOSTILE),)
    server = start()
    for path in ("/", f"/?app={quote(HOSTILE)}x", f"/traces?app={quote(HOSTILE)}&judge={quote(HOSTILE)}"):
        body = ask(server, path)[2]
        assert "<script" not in body
        assert "&lt;script&gt;" in body
