"""What a browser is shown of falls."""

from __future__ import annotations

import pytest

from fakes.watching import NOON, SHOP, make_fall, make_place, make_watched
from ragsonde_schemas.watched_fall import FallDetail, FallFilter, FallList, FallState, FallWatch, ScoreSpread
from services.page_client import ask

HOSTILE = '<script>alert("x")</script>'


def detail(fall):
    return FallDetail(fall=fall, step_seconds=3600)


def test_a_fall_has_its_page(start, watching):
    watching.fall_details = {7: detail(make_fall())}
    status, _, body = ask(start(), "/falls/7")
    assert status == 200
    assert "context_relevance fell by .12 (.08 to .16) since 10:00 UTC: a page, open" in body
    assert 'href="/traces/t-9?app=shop&amp;judge=lexical%40ffffff"' in body
    assert "<code>ragsonde alerts ack 7</code>" in body


@pytest.mark.parametrize("number", ["8", "seven", "-7", "7.0", "%D9%A7", "9" * 40, "0x7"])
def test_what_names_no_fall_is_not_found(start, watching, number):
    watching.fall_details = {7: detail(make_fall())}
    assert ask(start(), f"/falls/{number}")[0] == 404


def test_names_of_producers_and_reasons_of_people_are_escaped(start, watching):
    told = {
        "changes": [{"kind": "release", "name": HOSTILE, "at": "2026-10-07T09:40:00Z"}],
        "traces": [{"trace_id": HOSTILE, "raw": 0.0}],
        "worst_strata": [{"stratum": HOSTILE, "drop": 0.1, "n": 3}],
    }
    fall = make_fall(explanation=told, reason=HOSTILE, accepted_at=NOON, closed_at=NOON)
    watching.fall_details = {7: detail(fall)}
    body = ask(start(), "/falls/7")[2]
    assert "<script>" not in body
    assert body.count("&lt;script&gt;") == 4


def test_the_list_asks_for_what_the_form_says(start, watching):
    watching.falls = FallList(falls=(make_fall(),), pages=3, false_pages=1)
    body = ask(start(), "/falls?app=shop&environment=production&state=open")[2]
    assert watching.falls_wanted == [FallFilter(app="shop", environment="production", state=FallState.OPEN)]
    assert "3 pages in the last year, 1 of them called false." in body
    assert '<a href="/falls/7">' in body
    assert '<option value="open" selected>' in body
    assert 'value="shop"' in body


@pytest.mark.parametrize(("days", "said"), [(365, "in a year is"), (90, "in 90 days is")])
def test_the_list_tells_the_budget_that_is_configured(start, watching, days, said):
    watching.falls = FallList(page_days=days)
    assert f"about one false page {said}" in ask(start(), "/falls")[2]


def test_a_fall_shows_its_scores_before_and_since(start, watching):
    spread = ScoreSpread(since=NOON, until=NOON, bins=(1,) * 10)
    watching.fall_details = {7: detail(make_fall()).model_copy(update={"before": spread, "after": spread})}
    body = ask(start(), "/falls/7")[2]
    assert "<strong>before, in the baseline</strong>: 10 scores" in body
    assert body.count('<svg class="histogram"') == 2


def test_an_empty_form_asks_for_all(start, watching):
    body = ask(start(), "/falls?app=&environment=&state=all")[2]
    assert watching.falls_wanted == [FallFilter()]
    assert "No page in the last year." in body
    assert "No fall was told yet." in body


def test_a_state_that_is_none_is_told_with_those_there_are(start):
    status, _, body = ask(start(), "/falls?state=lost")
    assert status == 400
    assert "state: found &#39;lost&#39;; expected one of open, closed, page, false, all." in body


def test_lists_of_falls_are_found_from_the_alerts(start):
    assert 'href="/falls"' in ask(start(), "/alerts")[2]


def test_the_overview_says_how_it_stands_and_marks_the_card(start, watching):
    watching.places = [make_place()]
    fall = {"fall": 7, "since": NOON, "drop": 0.12, "drop_lower": 0.08, "drop_upper": 0.16}
    watching.fall_watch = FallWatch(streams=(make_watched(state="fell", **fall),))
    body = ask(start(), "/")[2]
    assert '<a class="bad" href="/falls/7">context_position fell by .12' in body
    assert '<a class="badge bad" href="/falls/7">fell .12</a>' in body


def test_the_view_of_an_alert_about_falls_lists_those_that_are_open(start, watching):
    watching.falls = FallList(falls=(make_fall(),))
    watching.places = [make_place()]
    body = ask(start(), "/alerts/RagsondeRegression?app=shop&environment=production")[2]
    assert watching.falls_wanted == [FallFilter(**SHOP.model_dump(), state=FallState.OPEN)]
    assert '<a href="/falls/7">' in body
    ask(start(), "/alerts/RagsondeParked")
    assert len(watching.falls_wanted) == 1
